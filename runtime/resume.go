package runtime

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// resume accounts for the commands that the session resumed from left behind:
// each that no record tells the end of is reported to the guest as lost.
func (s *Session) resume() error {
	old := s.opts.Resume
	if old == "" {
		return nil
	}
	if err := s.claim(old); err != nil {
		return fmt.Errorf("cannot resume session %s: %w", old, err)
	}
	losses, err := trace.Losses(old, s.openTrace)
	if err != nil {
		// What could be read is reported all the same.
		fmt.Fprintf(s.operator, "[capsule-runtime] a trace of an earlier session is damaged: %v\n", err)
	}
	for _, l := range losses {
		if err := s.reportLost(l); err != nil {
			return fmt.Errorf("cannot resume session %s: %w", old, err)
		}
	}
	return nil
}

// claim checks that the old session is one of this capsule and that nobody
// runs it, and holds it while it is resumed from.
func (s *Session) claim(old string) error {
	if !ids.Session.Valid(old) {
		return errors.New("that is no session id")
	}
	dir := s.rt.state.session(old)
	f, err := readSessionFile(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such session in %s", s.rt.state)
	}
	if err != nil {
		return err
	}
	if f.Capsule != s.capsule.manifest.Name {
		return fmt.Errorf("it is of capsule %q, not %q", f.Capsule, s.capsule.manifest.Name)
	}
	lock, err := lockSession(dir)
	if errors.Is(err, errRunning) {
		return fmt.Errorf("it is still running, as process %d", f.PID)
	}
	s.oldLock = lock
	return err
}

func (s *Session) openTrace(session string) (io.ReadCloser, error) {
	if !ids.Session.Valid(session) {
		return nil, fs.ErrNotExist
	}
	return os.Open(filepath.Join(s.rt.state.session(session), traceName))
}

// reportLost writes the losses off in the old session's trace and queues their
// report, in that order: a crash in between may leave them unreported to the
// guest, but visible, and a later resume reports them again.
func (s *Session) reportLost(l trace.SessionLosses) error {
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
