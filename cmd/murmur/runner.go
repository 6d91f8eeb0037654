package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// A runner carries out one murmur run.
type runner struct {
	app      *app
	flags    *runFlags
	manifest *capsule.Manifest
	origin   provenance.Origin
	old      runtime.SessionInfo // to go on from, if it has an ID

	printer *printer
	results *results
	ending  ending
	failed  atomic.Bool // a task failed
	ended   atomic.Bool // a timeout, a signal, or a reader that went away
}

func (r *runner) run(ctx context.Context) error {
	for _, w := range r.manifest.Warnings() {
		r.app.warn("%s", w)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer r.listen(cancel)()
	r.printer = newPrinter()
	err := r.runPrinting(ctx)
	r.printer.close()
	switch {
	case r.ended.Load():
		return r.endedBy(err)
	case err != nil:
		return err
	case r.failed.Load():
		return &failure{code: exitFailed}
	}
	return nil
}

// endedBy is how a run fails that was ended from outside. What else went wrong
// on the way is told only if it is not that ending itself.
func (r *runner) endedBy(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, host.ErrCanceled) || errors.Is(err, runtime.ErrSessionEnded) {
		err = nil
	}
	return &failure{err: err, code: exitEnded}
}

// runPrinting runs the session, whose events and results go to the printer.
func (r *runner) runPrinting(ctx context.Context) (err error) {
	r.results = &results{
		w: r.app.stdout, json: r.flags.json, terminal: r.app.styleOut.terminal,
		broken: func(err error) { r.end(fmt.Sprintf("nobody reads the results: %v", err)) },
	}
	rt, err := runtime.New(runtime.Options{
		StateDir: r.flags.stateDir, Log: r.printer.writer(r.app.stderr), CompileProgress: r.compiling,
		Retention: r.flags.retention,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	guest, err := rt.Load(ctx, r.manifest)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guest.Close(context.WithoutCancel(ctx))) }()
	return r.runSession(ctx, rt, guest)
}

func (r *runner) compiling(p host.Progress) {
	r.printer.do(func() { r.app.compiling(p) })
}

func (r *runner) runSession(ctx context.Context, rt *runtime.Runtime, guest *runtime.Capsule) error {
	line := &timeline{w: r.app.stderr, style: r.app.styleErr, receipts: r.flags.verbose}
	session, err := rt.Start(ctx, guest, runtime.SessionOptions{
		Workdir: r.workdir(), Resume: r.old.ID, GuestOutput: r.guestOutput(),
		OnEvent:  func(e runtime.Event) { r.printer.do(func() { line.show(e) }) },
		OnResult: func(res runtime.TaskResult) { r.printer.do(func() { r.result(res) }) },
	})
	if err != nil {
		return err
	}
	defer r.adopt(session)()
	err = r.feed(ctx, session)
	return errors.Join(err, session.Wait(context.WithoutCancel(ctx)))
}

// workdir is where the session works: where the one that it goes on from did,
// unless the command line says otherwise.
func (r *runner) workdir() string {
	old := r.old.Workdir
	if r.flags.workdir != "" || old == "" {
		return r.flags.workdir
	}
	if _, err := os.Stat(old); err != nil {
		r.printer.do(func() { r.app.warn("the old session's workdir is gone, a fresh one is used: %v", err) })
		return ""
	}
	return old
}

func (r *runner) guestOutput() io.Writer {
	if !r.flags.verbose {
		return nil
	}
	return r.printer.writer(terminalWriter(r.app.stderr, r.app.styleErr))
}

func (r *runner) result(res runtime.TaskResult) {
	if res.Status != runtime.StatusOK {
		r.failed.Store(true)
		fmt.Fprintf(r.app.stderr, "murmur: %s %s: %s\n", r.app.styleErr.bad("task failed:"), short(res.TaskID), oneLine(res.Result))
	}
	r.results.show(res)
}

// feed gives the session its tasks, each as soon as it is admitted, and ends
// the session where the lifecycle does not.
func (r *runner) feed(ctx context.Context, session *runtime.Session) error {
	for i, text := range r.flags.tasks.texts {
		_, err := session.SubmitWhenAdmitted(ctx, runtime.Task{Origin: r.origin, Message: text, Source: runtime.SourceCLI})
		if err != nil {
			session.End()
			return &failure{fmt.Errorf("task %d was not run: %w", i+1, err), hintFor(err), exitFailed}
		}
	}
	// Without a task of its own, a session that ends after a task has only what
	// earlier ones left.
	if !r.flags.untilIdle && (len(r.flags.tasks.texts) > 0 || r.manifest.Lifecycle.AfterTask == capsule.AfterSleep) {
		r.stays()
		return nil
	}
	// A context that is done has ended the session by itself.
	_ = session.WaitIdle(ctx)
	session.End()
	return nil
}

// stays tells that the session will not end by itself, which looks like a hang
// to whoever did not write the manifest.
func (r *runner) stays() {
	if r.manifest.Lifecycle.AfterTask != capsule.AfterSleep {
		return
	}
	r.printer.do(func() {
		fmt.Fprintf(r.app.stderr, "murmur: %s\n", r.app.styleErr.dim(
			"the session stays after its tasks (lifecycle.after_task: sleep): Ctrl-C ends it, --until-idle would"))
	})
}
