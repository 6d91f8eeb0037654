// Package looper makes a guest that fetches its tasks itself: it exports
// murmur:capsule/run and imports murmur:task/queue. It is started once and
// keeps what it holds in memory from one task to the next. Import either this
// package or handler, not both.
//
//	func init() { looper.Main(loop) }
//
//	func main() {}
//
//	func loop() {
//		for task := range looper.Tasks() {
//			looper.Settle(work(task))
//		}
//	}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o guest.wasm .
package looper

import (
	"iter"

	"github.com/murmur-capsule/murmur/capsule/guest"
)

var run func()

// Main sets the function that the runtime calls when the session starts. The
// session ends when it returns. Call Main from an init function: main does not
// run in a guest of this kind.
func Main(f func()) {
	if f == nil {
		panic("looper: Main with a nil function")
	}
	if run != nil {
		panic("looper: Main called twice")
	}
	run = f
}

// Next waits for the next task. It reports false when the session is over, and
// always outside a WebAssembly runtime. All goroutines of the guest stand still
// while it waits.
func Next() (guest.Task, bool) { return next() }

// Settle gives the outcome of the task that Next returned last: its result or,
// if err is not nil, its error.
func Settle(result string, err error) {
	if err != nil {
		settle(1, err.Error())
		return
	}
	settle(0, result)
}

// Tasks returns the tasks of the session, each waited for as Next does.
func Tasks() iter.Seq[guest.Task] {
	return func(yield func(guest.Task) bool) {
		for {
			task, ok := Next()
			if !ok || !yield(task) {
				return
			}
		}
	}
}
