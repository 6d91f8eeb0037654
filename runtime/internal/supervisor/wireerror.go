package supervisor

import (
	"errors"
	"syscall"
)

// wireError carries an error over the socket: its text and, where one is in it,
// the system's error number, so that errors.Is works on both sides.
type wireError struct {
	Text  string        `json:"text"`
	Errno syscall.Errno `json:"errno,omitempty"`
}

func toWire(err error) *wireError {
	if err == nil {
		return nil
	}
	w := &wireError{Text: err.Error()}
	_ = errors.As(err, &w.Errno)
	return w
}

// Error implements error.
func (w *wireError) Error() string { return w.Text }

// Unwrap gives the system's error number.
func (w *wireError) Unwrap() error {
	if w.Errno == 0 {
		return nil
	}
	return w.Errno
}

// err is w as an error, nil if there is none.
func (w *wireError) err() error {
	if w == nil {
		return nil
	}
	return w
}
