package jobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Processes is what a pass may ask about processes and do to them. An
// implementation signals nothing whose identity is not proven at that moment.
type Processes interface {
	// Verify compares the living process with the identity.
	Verify(Identity) Verdict
	// Members lists the living processes of the launch, leader or not.
	Members(Record) []Survivor
	// Teardown ends the launch's tree (TERM, two seconds, identity proven
	// again, KILL) and returns the processes that it cannot prove dead.
	Teardown(context.Context, Record) ([]Survivor, error)
	// Age is how long the process has run by the machine's own clock; false
	// where that cannot be told.
	Age(Identity) (time.Duration, bool)
}

// Supervisor is a living supervisor of the session.
type Supervisor interface {
	// Stop ends the launch and returns once its exit record is written.
	Stop(ctx context.Context, launch, nonce string) error
}

// Pass is one walk over a store.
type Pass struct {
	Processes Processes
	// Supervisor is the session's living supervisor, or nil. It must be looked
	// up before the pass begins: a supervisor that leaves later has written
	// every exit record by then.
	Supervisor Supervisor
	// Now is the current time.
	Now time.Time
}

// Report is what a pass found.
type Report struct {
	// Finished are the works that this pass finished.
	Finished []Handle
	// Running counts the works that run on.
	Running int
	// KillFailed are the works whose teardown could not be proven this time.
	KillFailed []Handle
	Aside      []Aside
}

// StartUpReport counts the running works that the start-up pass saw, and which
// it retired and kept.
type StartUpReport struct {
	Seen, Retired, Kept int
	Aside               []Aside
}

// Retire is the first pass of a new runtime over records that an earlier one
// wrote. It signals nothing: works whose process is another's, or cannot be
// verified, are finished as [OwnershipLost] and are still owed to a guest.
func (s *Store) Retire(ctx context.Context, p Pass) (StartUpReport, error) {
	var report StartUpReport
	err := s.each(ctx, &report.Aside, func(h Handle) error {
		report.Seen++
		obs, _, refused := s.observe(h.record, p)
		obs.StartUp = true
		if d := Decide(h.record, obs); d.Action != Fail || d.Reason != OwnershipLost {
			report.Kept++
			return nil
		}
		report.Retired++
		_, err := s.fail(h, p, OwnershipLost, refused)
		return err
	})
	return report, err
}

// Reconcile brings every running record up to what is true on disk and of the
// processes. It is idempotent and may be called by any number of processes at
// once. The error joins what went wrong with single records; the others are
// dealt with all the same.
func (s *Store) Reconcile(ctx context.Context, p Pass) (Report, error) {
	var report Report
	err := s.each(ctx, &report.Aside, func(h Handle) error {
		return s.reconcile(ctx, h, p, &report)
	})
	return report, err
}

func (s *Store) each(ctx context.Context, aside *[]Aside, f func(Handle) error) error {
	handles, set, err := s.List()
	*aside = append(*aside, set...)
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range handles {
		if h.record.State != Running {
			continue
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		errs = append(errs, f(h))
	}
	return errors.Join(errs...)
}

func (s *Store) observe(r Record, p Pass) (Observation, ExitRecord, error) {
	obs := Observation{Supervised: p.Supervisor != nil, Verdict: Unverifiable}
	exit, err := s.readExit(r)
	switch {
	case err == nil:
		obs.Exit = ExitValid
		return obs, exit, nil
	case !errors.Is(err, fs.ErrNotExist):
		obs.Exit = ExitUnusable
		return obs, ExitRecord{}, err
	}
	// Pids 0 and 1 are never a command's: to signal them is to signal
	// ourselves, or everything.
	if r.Identity.PID > 1 {
		obs.Verdict = p.Processes.Verify(r.Identity)
	}
	obs.Age = r.Age(p.Now)
	if age, ok := p.Processes.Age(r.Identity); ok {
		obs.Age = age
	}
	return obs, ExitRecord{}, nil
}

func (s *Store) reconcile(ctx context.Context, h Handle, p Pass, report *Report) error {
	obs, exit, refused := s.observe(h.record, p)
	d := Decide(h.record, obs)
	switch d.Action {
	case Ask:
		return s.ask(ctx, h, p, report)
	case Collect:
		return report.finished(s.collect(h, exit))
	case Fail:
		return report.finished(s.fail(h, p, d.Reason, refused))
	case Teardown, Unproven:
		return s.teardown(ctx, h, p, d, report)
	default:
		report.Running++
		return nil
	}
}

// ask repeats a stop that never reached the supervisor.
func (s *Store) ask(ctx context.Context, h Handle, p Pass, report *Report) error {
	if err := p.Supervisor.Stop(ctx, h.record.Launch, h.record.Nonce); err != nil {
		report.Running++
		return fmt.Errorf("cannot stop %s: %w", h.record.WorkID, err)
	}
	exit, err := s.readExit(h.record)
	if err != nil {
		return fmt.Errorf("cannot read the exit record of %s: %w", h.record.WorkID, err)
	}
	return report.finished(s.collect(h, exit))
}

func (r *Report) finished(h Handle, err error) error {
	if err == nil {
		r.Finished = append(r.Finished, h)
	}
	return err
}

// collect takes the outcome, and nothing else, from a believed exit record.
func (s *Store) collect(h Handle, e ExitRecord) (Handle, error) {
	return s.finish(h, func(r *Record) {
		r.Outcome = &e.Outcome
		r.Output.StdoutBytes, r.Output.StderrBytes = e.Output.StdoutBytes, e.Output.StderrBytes
		r.Output.Truncated = e.Output.Truncated
		if e.Receipt != nil {
			r.Receipt = e.Receipt
		}
	})
}

// fail finishes a work that has no exit code. An exit record that was refused
// is set aside for a person to look at.
func (s *Store) fail(h Handle, p Pass, why Reason, refused error) (Handle, error) {
	var living []Survivor
	if why != OwnershipLost && h.record.Identity.PID > 1 {
		living = p.Processes.Members(h.record)
	}
	done, err := s.finish(h, func(r *Record) {
		r.Outcome = failure(*r, p.Now, why, living)
		if refused != nil {
			r.Outcome.WaitErr = refused.Error()
		}
		s.measure(r)
	})
	if err == nil && refused != nil && exists(s.exitPath(h.record.WorkID)) {
		s.moveAside(s.exitPath(h.record.WorkID), ".refused", refused)
	}
	return done, err
}

func failure(r Record, now time.Time, why Reason, survivors []Survivor) *Outcome {
	return &Outcome{
		ExitCode:   -1,
		Reason:     why,
		Survivors:  cut(survivors),
		DurationMS: max(0, r.Age(now).Milliseconds()),
		EndedAt:    now.UnixMilli(),
	}
}

// finish moves a running record to Finished. One that another process finished
// first is returned as that process left it.
func (s *Store) finish(h Handle, set func(*Record)) (Handle, error) {
	r, err := s.update(h.record.WorkID, h.record.Nonce, func(r *Record) (bool, error) {
		if r.State != Running {
			return false, nil
		}
		set(r)
		r.State = Finished
		return true, nil
	})
	return Handle{store: s, record: r}, err
}

func (s *Store) teardown(ctx context.Context, h Handle, p Pass, d Decision, report *Report) error {
	survivors, proven := p.Processes.Members(h.record), false
	var cause error
	if d.Action == Teardown {
		survivors, cause = p.Processes.Teardown(ctx, h.record)
		proven = cause == nil && len(survivors) == 0
	}
	if err := ctx.Err(); err != nil && !proven {
		return err // Cut short is not failed.
	}
	r, err := s.update(h.record.WorkID, h.record.Nonce, func(r *Record) (bool, error) {
		if r.State != Running {
			return false, nil
		}
		if !proven {
			r.KillFailed++
		}
		if proven || GivesUp(r.KillFailed) {
			r.Outcome, r.State = failure(*r, p.Now, d.Reason, survivors), Finished
			s.measure(r)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	h.record = r
	if r.State == Running {
		report.Running++
		report.KillFailed = append(report.KillFailed, h)
		return nil
	}
	return report.finished(h, nil)
}

// measure counts the captured output by its files, for an outcome that no
// supervisor told.
func (s *Store) measure(r *Record) {
	r.Output.StdoutBytes = fileSize(r.Output.StdoutPath)
	r.Output.StderrBytes = fileSize(r.Output.StderrPath)
}

// String says where a file went and why, for the operator.
func (a Aside) String() string { return fmt.Sprintf("%s: %s", a.File, a.Why) }
