package host

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Config configures an [Engine]. The zero value is ready to use.
type Config struct {
	// CacheDir keeps compiled guests from one process to the next. It is made
	// with mode 0700 if it does not exist; one that others can write to is
	// refused, because what is in it is run. Empty stands for no cache on disk.
	CacheDir string
	// CompileTimeout bounds the compilation of one guest. Defaults to 60 s.
	CompileTimeout time.Duration
}

// An Engine compiles guests and keeps what they have in common.
type Engine struct {
	conf  Config
	cache *diskCache // nil if there is none
	// compiling holds one token for each compilation that may run. One that was
	// given up keeps its token until it ends, so that they cannot pile up.
	compiling chan struct{}
	// progressEvery is how often a compilation tells that it goes on.
	progressEvery time.Duration

	mu     sync.Mutex
	guests map[*Guest]struct{} // nil once the engine is closed
}

// NewEngine makes an engine. The error names the directory that cannot be used
// as the cache, and why.
func NewEngine(_ context.Context, c Config) (*Engine, error) {
	if c.CompileTimeout <= 0 {
		c.CompileTimeout = time.Minute
	}
	e := &Engine{conf: c, guests: map[*Guest]struct{}{}, compiling: make(chan struct{}, 2), progressEvery: time.Second}
	if c.CacheDir != "" {
		cache, err := openDiskCache(c.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("cannot use the compile cache %s: %w", c.CacheDir, err)
		}
		e.cache = cache
	}
	return e, nil
}

// Close frees the engine and its guests. What still runs is interrupted, and
// freed when it ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	guests := e.guests
	e.guests = nil
	e.mu.Unlock()
	for g := range guests {
		g.shut(ctx)
	}
	return nil
}

func (e *Engine) adopt(g *Guest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.guests == nil {
		return fmt.Errorf("cannot load guest %s: the engine is %w", g.name, ErrClosed)
	}
	e.guests[g] = struct{}{}
	return nil
}

func (e *Engine) forget(g *Guest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.guests, g)
}

// workers is how many functions are compiled at a time. wazero stops between two
// functions only if there are at least two workers. Each is a goroutine of its
// own, so that a panic of the compiler would end the process: precheck keeps from
// it what is extreme, and what has not passed validation never gets there.
func workers() int { return min(max(runtime.GOMAXPROCS(0), 2), 8) }
