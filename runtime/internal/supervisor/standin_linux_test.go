package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// standInEnv makes the test binary a runtime that can be killed: it names the
// file with its plan.
const standInEnv = "SUPERVISOR_TEST_STANDIN"

// The instants in a runtime's life, after those of its supervisor.
const (
	stepStarted  = "started"
	stepPromised = "promised" // the demotion was answered
	stepKnown    = "known"    // the end was heard of
	stepFinished = "finished" // the record says so
	stepOffered  = "offered"
	stepHandling = "handling"
	stepTaken    = "taken"
)

// plan is what a stand-in does.
type plan struct {
	Dir     string
	Session Session
	Launch  shell.Launch
	// Die is the step at which it kills itself. With Both it kills the
	// supervisor first, or if that dies at a point of its own, follows it.
	Die  string
	Both bool
	// Unlink is removed before anything is started.
	Unlink string
}

// standIn is a small runtime: it starts a command, demotes it, and delivers its
// completion.
func standIn(path string) int {
	var p plan
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil {
		err = p.run()
	}
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	return 0
}

// reach dies at its step.
func (p *plan) reach(step string, supervisor int) {
	if step != p.Die {
		return
	}
	if p.Both {
		_ = unix.Kill(supervisor, unix.SIGKILL)
	}
	p.die()
}

func (p *plan) die() {
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

func (p *plan) run() error {
	if p.Unlink != "" {
		if err := os.Remove(p.Unlink); err != nil {
			return err
		}
	}
	ctx := context.Background()
	var r *Runner
	o := Options{Dir: p.Dir, Session: p.Session, Log: func(string) {
		if p.Both {
			p.die()
		}
		go func() { // Once there is another one.
			r.PID()
			fmt.Println("lost")
		}()
	}}
	r, err := Connect(ctx, o)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Task(p.Launch.Task); err != nil {
		return err
	}
	started, err := r.Start(ctx, p.Launch)
	if err != nil {
		fmt.Println("not started")
		return nil // The guest is told. Nothing is owed.
	}
	p.reach(stepStarted, r.PID())
	proc := started.(shell.Durable)
	if err := proc.Demote(ctx, shell.Demotion{WorkID: ids.Work.New()}); err != nil {
		return err
	}
	p.reach(stepPromised, r.PID())
	<-proc.Ended()
	p.reach(stepKnown, r.PID())
	return deliver(ctx, o, r, func(step string) { p.reach(step, r.PID()) })
}

// deliver is what a runtime does with finished work. The guest's handler is a
// line in a file.
func deliver(ctx context.Context, o Options, sup jobs.Supervisor, reach func(step string)) error {
	store, err := jobs.Open(filepath.Join(o.Dir, jobsDir))
	if err != nil {
		return err
	}
	if _, err := store.Reconcile(ctx, jobs.Pass{Processes: Host{}, Supervisor: sup, Now: time.Now()}); err != nil {
		return err
	}
	reach(stepFinished)
	claim := jobs.Claim{Session: o.Session.ID, Capsule: o.Session.Capsule, OwnerUID: o.Session.OwnerUID, Workdir: o.Session.Workdir}
	owed, aside, err := jobs.Owed([]*jobs.Store{store}, claim)
	if err != nil || len(aside) > 0 {
		return errors.Join(err, fmt.Errorf("set aside: %v", aside))
	}
	for _, h := range owed {
		if h, err = h.Offer(jobs.Delivery{Session: o.Session.ID, Task: ids.Task.New(), Now: time.Now()}); err != nil {
			return err
		}
		reach(stepOffered)
		if err := handle(o, h.Record()); err != nil {
			return err
		}
		reach(stepHandling)
		if _, err := h.Take(time.Now()); err != nil {
			return err
		}
		reach(stepTaken)
	}
	return nil
}

func handle(o Options, r jobs.Record) error {
	f, err := os.OpenFile(filepath.Join(o.Dir, "handled"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %d %s\n", r.Launch, r.Attempts, r.Outcome.Reason)
	return errors.Join(err, f.Close())
}
