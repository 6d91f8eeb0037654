package main

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // a task, or an expectation
	exitUsage  = 2 // the command line, a manifest, a guest, a file
	exitEnded  = 3 // a timeout or a signal
)

// A failure is an error with what the command line adds to it.
type failure struct {
	err  error // nil where everything has been said
	hint string
	code int
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage is a failure of whoever wrote the command line.
func usage(hint, format string, args ...any) error {
	return &failure{fmt.Errorf(format, args...), hint, exitUsage}
}

// asFailure is err as a failure; one that is none is the command's own.
func asFailure(err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		if f.err != nil {
			// What was joined to it is told with it.
			return &failure{err, f.hint, f.code}
		}
		return f
	}
	return &failure{err, hintFor(err), exitUsage}
}

// report prints a failure: a line that says what is wrong, and one that says
// what to do.
func (a *app) report(f *failure) {
	if f.err == nil {
		return
	}
	fmt.Fprintf(a.stderr, "murmur: %s %s\n", a.styleErr.bad("error:"), oneLine(f.err.Error()))
	if f.hint != "" {
		fmt.Fprintf(a.stderr, "murmur: %s %s\n", a.styleErr.dim("hint:"), oneLine(f.hint))
	}
}

// warn prints what is allowed but is probably not meant.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.stderr, "murmur: %s %s\n", a.styleErr.odd("warning:"), oneLine(fmt.Sprintf(format, args...)))
}

// oneLine joins the lines of a message: joined errors come in several.
func oneLine(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return printable(strings.Join(lines, "; "))
}
