package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"time"

	"github.com/murmur-capsule/murmur/runtime"
)

// followPeriod is how often the files of a followed command are read again: they
// are another process's, whose writes nothing tells of.
const followPeriod = 100 * time.Millisecond

// follow prints what a command writes until it has ended.
func (a *app) follow(ctx context.Context, j *runtime.Job) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	out, errs := j.OutputFiles()
	files := []*tail{
		{path: out, to: terminalWriter(a.stdout, a.styleOut)},
		{path: errs, to: terminalWriter(a.stderr, a.styleErr)},
	}
	defer func() {
		for _, f := range files {
			f.close()
		}
	}()
	tick := time.NewTicker(followPeriod)
	defer tick.Stop()
	for {
		// How the command stands is asked before the files are read: what it
		// wrote before its end is then read.
		now, err := j.Refresh(ctx)
		gone := errors.Is(err, fs.ErrNotExist)
		if err != nil && !gone && ctx.Err() == nil {
			return err
		}
		for _, f := range files {
			if err := f.copy(); err != nil {
				return err
			}
		}
		if gone || ctx.Err() != nil {
			return nil
		}
		if now.State != "running" && now.State != "foreground" {
			fmt.Fprintf(a.stderr, "%s %s\n", now.ID, jobState(now))
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// A tail is a file that grows.
type tail struct {
	path string
	to   io.Writer
	file *os.File
}

// copy copies what came since the last time. A file that is not there yet is no
// error.
func (t *tail) copy() error {
	if t.file == nil {
		f, err := os.Open(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		t.file = f
	}
	_, err := io.Copy(t.to, t.file)
	return err
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}
