package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

// reserved is the room kept for an exit record, in bytes.
const reserved = 16 << 10

// maxNamed bounds the processes that an exit record names, so that it fits
// into the room that was kept for it.
const maxNamed = 64

// ExitRecord is a supervisor's word on how a command ended. It is believed only
// about its outcome, and only if it names the launch as the record does.
type ExitRecord struct {
	Version  int             `json:"version"`
	WorkID   string          `json:"work_id"`
	Launch   string          `json:"launch"`
	Nonce    string          `json:"nonce"`
	Identity Identity        `json:"identity"`
	Outcome  Outcome         `json:"outcome"`
	Output   OutputCount     `json:"output"`
	Receipt  json.RawMessage `json:"containment,omitempty"`
}

// OutputCount is what an exit record says about the output. Where the output
// is, only the record says.
type OutputCount struct {
	StdoutBytes int64 `json:"stdout_bytes"`
	StderrBytes int64 `json:"stderr_bytes"`
	Truncated   bool  `json:"output_truncated,omitempty"`
}

var (
	errRefused    = errors.New("it is not about this launch")
	errUnreadable = errors.New("it cannot be read")
)

func (s *Store) reserve(work string) error {
	path := s.reservePath(work)
	if err := os.WriteFile(path, make([]byte, reserved), 0o600); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// WriteExit makes the exit record durable. The first one stands: a later one
// is dropped without an error.
func (s *Store) WriteExit(e ExitRecord) error {
	if !validWork(e.WorkID) {
		return fmt.Errorf("cannot write an exit record: bad work id %q", e.WorkID)
	}
	e.Version = Version
	e.Outcome.Survivors = cut(e.Outcome.Survivors)
	e.Outcome.LeftRunning = cut(e.Outcome.LeftRunning)
	data, err := encode(e)
	if err != nil {
		return fmt.Errorf("cannot write the exit record of %s: %w", e.WorkID, err)
	}
	err = s.locked(func() error { return s.writeExit(e.WorkID, data) })
	if err != nil {
		return fmt.Errorf("cannot write the exit record of %s: %w", e.WorkID, err)
	}
	return nil
}

func cut(list []Survivor) []Survivor { return list[:min(len(list), maxNamed)] }

func (s *Store) writeExit(work string, data []byte) error {
	if exists(s.exitPath(work)) {
		return nil
	}
	f, err := regular.OpenFile(s.reservePath(work), os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return writeAtomic(s.exitPath(work), data)
	}
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err != nil {
		// The room stays reserved for the next try.
		return errors.Join(err, f.Close())
	}
	return commit(f, s.exitPath(work))
}

// readExit reads the exit record of r: fs.ErrNotExist if there is none,
// errUnreadable or errRefused if it is not to be believed.
func (s *Store) readExit(r Record) (ExitRecord, error) {
	data, err := readFile(s.exitPath(r.WorkID))
	if errors.Is(err, fs.ErrNotExist) {
		return ExitRecord{}, err
	}
	if err != nil {
		return ExitRecord{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	e, err := decodeExit(data)
	if err != nil {
		return ExitRecord{}, err
	}
	return e, e.about(r)
}

func decodeExit(data []byte) (ExitRecord, error) {
	var e ExitRecord
	if err := decode(data, &e); err != nil {
		return ExitRecord{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if o := e.Outcome; o.ExitCode < -1 || o.ExitCode > 255 || (o.Reason != "" && o.ExitCode != -1) {
		return ExitRecord{}, fmt.Errorf("%w: exit code %d, reason %q", errUnreadable, o.ExitCode, o.Reason)
	}
	return e, nil
}

// about checks that the exit record is the one of r's launch.
func (e ExitRecord) about(r Record) error {
	switch {
	case e.WorkID != r.WorkID, e.Launch != r.Launch:
		return fmt.Errorf("%w: it names %q, launched as %q", errRefused, e.WorkID, e.Launch)
	case e.Nonce != r.Nonce:
		return fmt.Errorf("%w: the nonce differs", errRefused)
	case e.Identity != r.Identity:
		return fmt.Errorf("%w: the process differs", errRefused)
	}
	return nil
}
