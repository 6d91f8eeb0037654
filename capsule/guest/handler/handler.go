// Package handler makes a guest of the usual kind, one that the runtime calls
// once for each task: it exports murmur:task/handler. Import either this
// package or looper, not both.
//
//	func init() { handler.Handle(work) }
//
//	func main() {}
//
//	func work(t guest.Task) (string, error) {
//		r := guest.Run(guest.Bash("uname -a"))
//		return r.Data, nil
//	}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o guest.wasm .
package handler

import "github.com/murmur-capsule/murmur/capsule/guest"

// A Func works on one task. Its answer is the task's result or, if the error
// is not nil, the task's error. A panic ends the guest: the task fails and the
// next one gets a fresh instance.
type Func func(guest.Task) (string, error)

var handle Func

// Handle sets the function that works on tasks. Call it from an init function:
// main does not run in a guest of this kind.
func Handle(f Func) {
	if f == nil {
		panic("handler: Handle with a nil function")
	}
	if handle != nil {
		panic("handler: Handle called twice")
	}
	handle = f
}

// answer runs the registered function.
func answer(t guest.Task) (text string, failed bool) {
	if handle == nil {
		return "this guest has no handler: call handler.Handle from an init function", true
	}
	text, err := handle(t)
	if err != nil {
		return err.Error(), true
	}
	return text, false
}
