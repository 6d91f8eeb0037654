package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"github.com/murmur-capsule/murmur/runtime/internal/regular"
)

const (
	recordSuffix  = ".json"
	exitSuffix    = ".exit"
	reserveSuffix = ".reserved"
	tempPrefix    = ".tmp-"
	asideDir      = "aside"
	lockFile      = "lock"
	newerSuffix   = ".newer"
)

// The errors that a caller may act on.
var (
	// ErrGone says that the record is not there or is no longer the handle's.
	ErrGone = errors.New("no such work")
	// ErrExists says that a work of this id is recorded already.
	ErrExists = errors.New("the work is recorded already")
)

// Store is the records of one session. It is safe for concurrent use, and any
// number of processes may have the same directory open.
type Store struct {
	dir string
	mu  sync.Mutex
}

// Aside is a file that could not be read and was moved out of the way.
type Aside struct {
	// File is where it is now.
	File string
	// Why says what is wrong with it.
	Why string
}

// Open makes the directory, with mode 0700, if it is not there, and brings back
// what a newer build wrote if this build can read it.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(filepath.Join(dir, asideDir), 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the job store: %w", err)
	}
	s := &Store{dir: dir}
	return s, s.restore()
}

// Dir is the store's directory.
func (s *Store) Dir() string { return s.dir }

func (s *Store) recordPath(work string) string { return filepath.Join(s.dir, work+recordSuffix) }
func (s *Store) exitPath(work string) string   { return filepath.Join(s.dir, work+exitSuffix) }
func (s *Store) reservePath(work string) string {
	return filepath.Join(s.dir, work+reserveSuffix)
}

// locked runs f while no other process, and no other goroutine, changes the
// store.
func (s *Store) locked(f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := flock.New(filepath.Join(s.dir, lockFile), flock.SetPermissions(0o600), flock.SetFlag(regular.LockFlags))
	if err := l.Lock(); err != nil {
		return fmt.Errorf("cannot lock the job store: %w", err)
	}
	err := f()
	return errors.Join(err, l.Close())
}

// Create writes the record of a new work, together with the room that its exit
// record will need: a disk that fills up later cannot cost the result. Version
// and state are set here.
func (s *Store) Create(r Record) (Handle, error) {
	r.Version, r.State = Version, Running
	if err := r.check(); err != nil {
		return Handle{}, fmt.Errorf("cannot record the work: %w", err)
	}
	err := s.locked(func() error {
		if _, err := os.Lstat(s.recordPath(r.WorkID)); err == nil {
			return ErrExists
		}
		if err := s.reserve(r.WorkID); err != nil {
			return err
		}
		if err := s.write(r); err != nil {
			return errors.Join(err, os.Remove(s.reservePath(r.WorkID)))
		}
		return nil
	})
	if err != nil {
		return Handle{}, fmt.Errorf("cannot record %s: %w", r.WorkID, err)
	}
	return Handle{store: s, record: r}, nil
}

func (s *Store) write(r Record) error {
	data, err := encode(r)
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return fmt.Errorf("the record has %d bytes, more than %d", len(data), maxFile)
	}
	return writeAtomic(s.recordPath(r.WorkID), data)
}

// update reads the record, lets f change it, and writes it if f says so. It is
// refused if the record no longer has the nonce.
func (s *Store) update(work, nonce string, f func(*Record) (bool, error)) (Record, error) {
	var r Record
	err := s.locked(func() error {
		var err error
		if r, err = s.read(work); err != nil {
			return err
		}
		if r.Nonce != nonce {
			return ErrGone
		}
		change, err := f(&r)
		if err != nil || !change {
			return err
		}
		return s.write(r)
	})
	if err != nil {
		return r, fmt.Errorf("cannot update %s: %w", work, err)
	}
	return r, nil
}

func (s *Store) read(work string) (Record, error) {
	data, err := readFile(s.recordPath(work))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, ErrGone
	}
	if err != nil {
		return Record{}, err
	}
	return decodeRecord(work, data)
}

// Accounts says whether the launch is recorded under this id.
func (s *Store) Accounts(work, launch string) bool {
	if !validWork(work) {
		return false
	}
	r, err := s.read(work)
	return err == nil && r.Launch == launch
}

// readFile reads a regular file of at most maxFile bytes.
func readFile(path string) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it has %d bytes, more than %d", info.Size(), maxFile)
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return data[:n], err
}

// List reads every record, in the order of the ids. Unreadable ones are set
// aside and reported.
func (s *Store) List() ([]Handle, []Aside, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot list the job store: %w", err)
	}
	var handles []Handle
	var asides []Aside
	for _, e := range entries {
		work, ok := strings.CutSuffix(e.Name(), recordSuffix)
		if !ok || strings.HasPrefix(work, tempPrefix) {
			continue
		}
		r, err := s.read(work)
		switch {
		case err == nil:
			handles = append(handles, Handle{store: s, record: r})
		case !errors.Is(err, ErrGone):
			asides = append(asides, s.setAside(work)...)
		}
	}
	return handles, asides, nil
}

// setAside moves a record that is unreadable still, now that nobody writes.
func (s *Store) setAside(work string) []Aside {
	var moved []Aside
	err := s.locked(func() error {
		_, err := s.read(work)
		if err == nil || errors.Is(err, ErrGone) {
			return nil
		}
		suffix := ".corrupt"
		if errors.Is(err, errNewer) {
			suffix = newerSuffix
		}
		moved = append(moved, s.moveAside(s.recordPath(work), suffix, err))
		return nil
	})
	if err != nil {
		return []Aside{{File: s.recordPath(work), Why: err.Error()}}
	}
	return moved
}

// Unread says whether records lie aside that this build could not read: nobody
// knows what they owe.
func (s *Store) Unread() (bool, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, asideDir))
	if err != nil {
		return false, fmt.Errorf("cannot list what was set aside: %w", err)
	}
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.Contains(e.Name(), recordSuffix+".")
	}), nil
}

// moveAside renames path into the directory for such files, beside any that is
// there under the same name.
func (s *Store) moveAside(path, suffix string, why error) Aside {
	base := filepath.Join(s.dir, asideDir, filepath.Base(path))
	to := base + suffix
	for n := 1; exists(to); n++ {
		to = fmt.Sprintf("%s.%d%s", base, n, suffix)
	}
	if err := os.Rename(path, to); err != nil {
		return Aside{File: path, Why: fmt.Sprintf("%v; it cannot be moved either: %v", why, err)}
	}
	return Aside{File: to, Why: why.Error()}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// restore brings back the records that only a newer build could read when they
// were set aside.
func (s *Store) restore() error {
	aside := filepath.Join(s.dir, asideDir)
	entries, err := os.ReadDir(aside)
	if err != nil {
		return fmt.Errorf("cannot open the job store: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), recordSuffix+newerSuffix)
		if !ok || exists(s.recordPath(name)) {
			continue
		}
		data, err := readFile(filepath.Join(aside, e.Name()))
		if err != nil {
			continue
		}
		if _, err := decodeRecord(name, data); err == nil {
			if err := os.Rename(filepath.Join(aside, e.Name()), s.recordPath(name)); err != nil {
				return fmt.Errorf("cannot bring back %s: %w", name, err)
			}
		}
	}
	return nil
}
