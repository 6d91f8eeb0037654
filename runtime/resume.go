package runtime

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// findOld claims the session that this one goes on from: it must be one of this
// capsule and owner, and nobody may run it.
func (s *Session) findOld() error {
	if s.opts.Resume == "" {
		return nil
	}
	if err := s.claimOld(s.opts.Resume); err != nil {
		return fmt.Errorf("cannot resume session %s: %w", shell.Quote(s.opts.Resume), err)
	}
	return nil
}

func (s *Session) claimOld(id string) error {
	if !ids.Session.Valid(id) {
		return errors.New("that is no session id")
	}
	dir := s.rt.state.session(id)
	f, damage, err := knownOf(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such session in %s", s.rt.state)
	}
	if err != nil {
		return err
	}
	if damage != nil {
		fmt.Fprintf(s.operator, "[capsule-runtime] %v; its trace tells the rest\n", damage)
	}
	if damage != nil && f.Capsule == "" {
		return damage
	}
	if f.Capsule != s.capsule.manifest.Name {
		return fmt.Errorf("it is of capsule %q, not %q", f.Capsule, s.capsule.manifest.Name)
	}
	if f.Owner != os.Geteuid() {
		return fmt.Errorf("it belongs to uid %d", f.Owner)
	}
	lock, err := lockSession(dir)
	if errors.Is(err, errRunning) {
		return fmt.Errorf("it is still running, as process %d", f.PID)
	}
	s.old, s.oldLock = f, lock
	return err
}

// resume takes over what earlier sessions left: results that are owed, commands
// that run on, tasks that wait; and it accounts for the commands that no record
// tells of.
func (s *Session) resume() error {
	if err := s.adoptAll(); err != nil {
		return fmt.Errorf("cannot take over what earlier sessions left: %w", err)
	}
	if s.opts.Resume == "" {
		return nil
	}
	losses, err := trace.Losses(s.old.ID, s.rt.state.openTrace)
	if err != nil {
		// What could be read is reported all the same.
		fmt.Fprintf(s.operator, "[capsule-runtime] a trace of an earlier session is damaged: %v\n", err)
	}
	for _, l := range losses {
		if err := s.reportLost(l); err != nil {
			return fmt.Errorf("cannot resume session %s: %w", s.old.ID, err)
		}
	}
	return s.readmit()
}

// adoptAll takes over the records of the sessions resumed from and, where this
// session can be told of results, of every other one of the same capsule, owner
// and workdir.
func (s *Session) adoptAll() error {
	if s.durables == nil {
		return nil
	}
	lc := s.capsule.manifest.Lifecycle
	listens := lc.TaskAcceptance == capsule.AcceptQueue && lc.AfterTask == capsule.AfterSleep
	earlier, err := Sessions(s.rt.StateDir())
	if err != nil {
		return err
	}
	line := s.lineage()
	for _, info := range earlier {
		mine := slices.Contains(line, info.ID) || listens && s.sameAs(info)
		if info.ID == s.id || !mine || info.Running && info.ID != s.old.ID {
			continue
		}
		if err := s.adopt(info); err != nil {
			fmt.Fprintf(s.operator, "[capsule-runtime] cannot take over session %s: %v\n", info.ID, err)
		}
	}
	return nil
}

func (s *Session) sameAs(info SessionInfo) bool {
	return info.Capsule == s.file.Capsule && info.Workdir == s.file.Workdir
}

func (s *Session) adopt(info SessionInfo) error {
	f, _, err := knownOf(info.Dir)
	if err != nil {
		return err
	}
	if f.Owner != os.Geteuid() {
		return nil
	}
	return s.durables.adopt(f, info.Dir)
}

// reportLost writes those losses off that no record accounts for, in the old
// session's trace, and queues their report, in that order: a crash in between
// may leave them unreported to the guest, but visible, and a later resume
// reports them again.
func (s *Session) reportLost(l trace.SessionLosses) error {
	l.Losses = slices.DeleteFunc(l.Losses, func(w trace.Loss) bool { return s.recorded(l.Session, w.WorkID) })
	if len(l.Losses) == 0 {
		return nil
	}
	old, err := trace.Open(filepath.Join(s.rt.state.session(l.Session), traceName), l.Session, trace.Options{Sync: true})
	if err != nil {
		return err
	}
	defer old.Close()
	// On the account at once: a session that has this to tell is not idle.
	s.account.add(1)
	if err := s.registry.ReportLost(old, detach.NewLostReport(l, s.contextID), s.id); err != nil {
		s.account.add(-1)
		return err
	}
	return nil
}

// recorded says whether a session has a durable record of the work.
func (s *Session) recorded(session, work string) bool {
	store, err := supervisor.Records(s.rt.state.session(session))
	if err != nil {
		return false
	}
	_, err = store.Get(work)
	return err == nil
}
