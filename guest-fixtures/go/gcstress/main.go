// Command gcstress is a guest that makes very many calls under a collector that
// never rests, and checks that every byte it was handed is still what it was.
// The message of a task is the number of calls; the result is an account of
// them in JSON.
package main

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/handler"
)

func init() { handler.Handle(handle) }

func main() {}

const workers = 4

type account struct {
	Calls       int    `json:"calls"`
	Bad         int    `json:"bad"`
	Collections uint32 `json:"collections"`
}

func handle(t guest.Task) (string, error) {
	calls, err := strconv.Atoi(strings.TrimSpace(t.Message))
	if err != nil {
		return "", fmt.Errorf("the message is a number of calls: %w", err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	before := collections()
	a := account{Calls: calls, Bad: stress(calls)}
	a.Collections = collections() - before
	out, err := json.Marshal(a)
	return string(out), err
}

func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// stress shares the calls among goroutines, so that one is in the middle of
// reading a result when another makes a call.
func stress(calls int) int {
	bad := make([]int, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			k := keeper{seed: maphash.MakeSeed()}
			for i := w; i < calls; i += workers {
				bad[w] += k.call(i)
				if i%10 == 0 {
					runtime.GC()
				}
				runtime.Gosched()
			}
			bad[w] += k.check()
		})
	}
	wg.Wait()
	total := 0
	for _, n := range bad {
		total += n
	}
	return total
}

// A keeper holds on to the latest results, and to a hash of each that was taken
// when it came.
type keeper struct {
	seed    maphash.Seed
	garbage []byte
	kept    [16]struct {
		text string
		hash uint64
	}
}

// call makes one call, and returns how many results, new and kept, are wrong.
// The request is refused, with a summary that names its binary.
func (k *keeper) call(i int) (bad int) {
	name := fmt.Sprintf("no-such-%d-%s", i, strings.Repeat("x", i%50))
	k.garbage = make([]byte, 1+i*37%9000)
	r := guest.Run(guest.Request{Binary: name, Command: "x"})
	if r.Status != guest.StatusError || !strings.Contains(r.Summary, name) {
		bad++
	}
	slot := &k.kept[i/workers%len(k.kept)]
	if slot.text != "" && maphash.String(k.seed, slot.text) != slot.hash {
		bad++
	}
	slot.text = r.Summary
	slot.hash = maphash.String(k.seed, r.Summary)
	return bad
}

func (k *keeper) check() (bad int) {
	for _, slot := range k.kept {
		if slot.text != "" && maphash.String(k.seed, slot.text) != slot.hash {
			bad++
		}
	}
	return bad
}
