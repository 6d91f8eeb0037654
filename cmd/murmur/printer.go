package main

import (
	"bytes"
	"io"
)

// A printer carries out what is to be printed, in order, on a goroutine of its
// own: a session hands over its events and results and goes on. Only if it is
// far ahead does it wait, so that a reader who is slow costs no memory.
type printer struct {
	jobs chan func()
	done chan struct{}
}

// ahead is how much may wait to be printed.
const ahead = 256

func newPrinter() *printer {
	p := &printer{jobs: make(chan func(), ahead), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for job := range p.jobs {
			job()
		}
	}()
	return p
}

func (p *printer) do(job func()) { p.jobs <- job }

// writer is a writer whose text the printer writes to w, in its turn.
func (p *printer) writer(w io.Writer) io.Writer {
	return writerFunc(func(text []byte) {
		text = bytes.Clone(text)
		p.do(func() { _, _ = w.Write(text) })
	})
}

type writerFunc func(text []byte)

func (w writerFunc) Write(text []byte) (int, error) {
	w(text)
	return len(text), nil
}

// close waits until everything is printed. Nothing may be printed after it.
func (p *printer) close() {
	close(p.jobs)
	<-p.done
}
