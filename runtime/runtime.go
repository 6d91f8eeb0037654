package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/adrg/xdg"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
)

// Options configure a [Runtime]. The zero value is ready to use.
type Options struct {
	// StateDir keeps sessions, their traces and captured output. It must belong
	// to the caller and is made with mode 0700. Defaults to the user's state
	// directory (XDG_STATE_HOME) with /murmur added.
	StateDir string
	// CacheDir keeps compiled guests. Defaults to the user's cache directory
	// (XDG_CACHE_HOME) with /murmur added.
	CacheDir string
	// Log receives what the operator should read: warnings and the report of
	// commands that a session's end leaves behind. Defaults to standard error.
	Log io.Writer
	// Environ is the environment from which a command's baseline is chosen, as
	// NAME=value. Defaults to the process's own.
	Environ []string
	// CompileTimeout bounds the compilation of one guest. Defaults to 60 s.
	CompileTimeout time.Duration
	// Retention is how long the record and the captured output of a command are
	// kept after the guest has taken its result. Defaults to 1 h.
	Retention time.Duration
	// CompileProgress is told of a compilation that takes long.
	CompileProgress func(host.Progress)
}

// A Runtime loads capsules and starts sessions.
type Runtime struct {
	opts   Options
	state  stateDir
	engine *host.Engine

	mu       sync.Mutex
	closed   bool
	sessions map[string]*Session
}

// ErrClosed is returned by a Runtime that was closed.
var ErrClosed = errors.New("the runtime is closed")

// New opens the state directory and prepares the engine. The error names the
// directory that cannot be used and why.
func New(o Options) (*Runtime, error) {
	o = o.withDefaults()
	state, err := openState(o.StateDir)
	if err != nil {
		return nil, err
	}
	engine, err := host.NewEngine(context.Background(), host.Config{
		CacheDir:       filepath.Join(o.CacheDir, "compiled"),
		CompileTimeout: o.CompileTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot start the engine: %w", err)
	}
	return &Runtime{opts: o, state: state, engine: engine, sessions: map[string]*Session{}}, nil
}

func (o Options) withDefaults() Options {
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir()
	}
	if o.CacheDir == "" {
		o.CacheDir = DefaultCacheDir()
	}
	if o.Log == nil {
		o.Log = os.Stderr
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Retention <= 0 {
		o.Retention = jobs.Retention
	}
	o.Log = &lockedWriter{w: o.Log}
	return o
}

// DefaultStateDir is where sessions are kept when [Options.StateDir] is empty.
func DefaultStateDir() string { return filepath.Join(xdg.StateHome, "murmur") }

// DefaultCacheDir is where compiled guests are kept when [Options.CacheDir] is
// empty.
func DefaultCacheDir() string { return filepath.Join(xdg.CacheHome, "murmur") }

// StateDir is the directory that this runtime keeps its sessions in.
func (r *Runtime) StateDir() string { return string(r.state) }

// Close ends every session as [Session.End] does, waits for them, and releases
// the engine.
func (r *Runtime) Close() error {
	var err error
	for _, s := range r.shut() {
		s.End()
		err = errors.Join(err, s.Wait(context.Background()))
	}
	return errors.Join(err, r.engine.Close(context.Background()))
}

// shut refuses new sessions and lists the living ones.
func (r *Runtime) shut() []*Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	var living []*Session
	for _, s := range r.sessions {
		living = append(living, s)
	}
	return living
}

func (r *Runtime) add(s *Session) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.sessions[s.id] = s
	return nil
}

func (r *Runtime) remove(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, s.id)
}

// A lockedWriter lets sessions share the operator's log without mixing lines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
