package shell

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/murmur-capsule/murmur/runtime/internal/capture"
)

// ErrClosed refuses a command because the runner was closed.
var ErrClosed = errors.New("cannot start a command: the runner is closed")

// check refuses a launch that no policy has prepared.
func (l *Launch) check() error {
	switch {
	case l.Name == "" || filepath.Base(l.Name) != l.Name || l.Name == "." || l.Name == "..":
		return fmt.Errorf("cannot start a command: %s is no name for a file", Quote(l.Name))
	case !filepath.IsAbs(l.Path) || len(l.Args) == 0:
		return fmt.Errorf("cannot start a command: %s is not an absolute path with arguments", Quote(l.Path))
	case !filepath.IsAbs(l.Dir) || !filepath.IsAbs(l.OutDir):
		return fmt.Errorf("cannot start a command: %s and %s must be absolute paths", Quote(l.Dir), Quote(l.OutDir))
	}
	return nil
}

func outputOf(c *capture.Capture) Output {
	s := c.State()
	o := Output{
		StdoutPath:  s.StdoutPath,
		StderrPath:  s.StderrPath,
		StdoutBytes: s.StdoutBytes,
		StderrBytes: s.StderrBytes,
		Truncated:   s.Truncated,
	}
	if s.Err != nil {
		o.Err = s.Err.Error()
	}
	return o
}
