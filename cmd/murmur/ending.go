package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/murmur-capsule/murmur/runtime"
)

// An ending is how a run is told, from outside, to end. Until there is a session
// it cancels what is under way.
type ending struct {
	mu      sync.Mutex
	session *runtime.Session
	cancel  context.CancelFunc
	asked   int
}

// listen ends the run at a signal. An interrupt lets the current task finish
// first, a second one does not, and a third one ends the process where it
// stands. The terminal's going away, and a service manager's word, do not wait
// either.
func (r *runner) listen(cancel context.CancelFunc) (stop func()) {
	r.ending.cancel = cancel
	signals := make(chan os.Signal, 8)
	// A reader of the results that goes away must not end the process before
	// the session has; the failing write tells, see results.
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				r.signalled(s)
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

func (r *runner) signalled(s os.Signal) {
	switch s {
	case syscall.SIGPIPE:
	case os.Interrupt:
		r.ending.mu.Lock()
		r.ending.asked++
		asked := r.ending.asked
		r.ending.mu.Unlock()
		switch asked {
		case 1:
			r.end("ending after the current task; once more ends it at once")
		case 2:
			r.endNow("ending at once")
		default:
			os.Exit(exitEnded)
		}
	default:
		r.endNow(fmt.Sprintf("ending at once: %v", s))
	}
}

// end lets the current task finish.
func (r *runner) end(why string) { r.endWith(why, (*runtime.Session).End) }

// endNow does not.
func (r *runner) endNow(why string) { r.endWith(why, (*runtime.Session).Abort) }

func (r *runner) endWith(why string, end func(*runtime.Session)) {
	r.ended.Store(true)
	fmt.Fprintf(r.app.stderr, "murmur: %s\n", why)
	r.ending.mu.Lock()
	session := r.ending.session
	r.ending.mu.Unlock()
	if session == nil {
		r.ending.cancel()
		return
	}
	end(session)
}

// adopt makes the session what is ended from now on, and after the timeout. One
// that was to be ended while it started is ended now.
func (r *runner) adopt(session *runtime.Session) (stop func()) {
	r.ending.mu.Lock()
	r.ending.session = session
	r.ending.mu.Unlock()
	if r.ended.Load() {
		session.Abort()
	}
	if r.flags.timeout == 0 {
		return func() {}
	}
	timer := time.AfterFunc(r.flags.timeout, func() {
		r.endNow(fmt.Sprintf("the timeout of %v is over", r.flags.timeout))
	})
	return func() { timer.Stop() }
}
