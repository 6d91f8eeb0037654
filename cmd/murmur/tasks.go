package main

import (
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/runtime"
)

// messages are the tasks of a command line, in its order: --task and
// --task-file add to the same list.
type messages struct {
	texts []string
	stdin io.Reader
}

func (m *messages) add(text, from string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not valid UTF-8", from)
	case len(text) > runtime.MaxMessage:
		return fmt.Errorf("%s has %d bytes or more, over the limit of %d", from, len(text), runtime.MaxMessage)
	}
	m.texts = append(m.texts, text)
	return nil
}

// A taskFlag is --task.
type taskFlag struct{ *messages }

func (f taskFlag) Set(text string) error { return f.add(text, "the task") }
func (f taskFlag) String() string        { return "" }
func (f taskFlag) Type() string          { return "text" }

// A taskFileFlag is --task-file.
type taskFileFlag struct{ *messages }

func (f taskFileFlag) Set(path string) error {
	text, err := f.read(path)
	if err != nil {
		return err
	}
	return f.add(text, path)
}

func (f taskFileFlag) String() string { return "" }
func (f taskFileFlag) Type() string   { return "file" }

func (f taskFileFlag) read(path string) (string, error) {
	in := f.stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		in = file
	}
	// One byte more than a message may have tells that it is too long.
	text, err := io.ReadAll(io.LimitReader(in, runtime.MaxMessage+1))
	return string(text), err
}
