package host

import (
	"context"
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

// An Engine compiles guests and keeps what they need in common.
type Engine struct{ conf Config }

// NewEngine makes an engine. The error names the directory that cannot be used
// as the cache, and why.
func NewEngine(ctx context.Context, c Config) (*Engine, error) { panic("not yet") }

// Close frees the engine and its guests. What still runs is interrupted.
func (e *Engine) Close(ctx context.Context) error { panic("not yet") }
