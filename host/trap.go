package host

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero/sys"

	"github.com/murmur-capsule/murmur/host/internal/component"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// The errors that end a call from outside the guest.
var (
	// ErrCanceled means that the call's context was cancelled, or its deadline
	// has passed, or that the instance was closed.
	ErrCanceled = errors.New("the guest was cancelled")
	// ErrComputeLimit means that the guest computed longer than it may.
	ErrComputeLimit = errors.New("the guest reached its compute limit")
	// ErrMemoryLimit is what a [TrapError] or an [ExitError] is if the guest had
	// asked for more memory than it may have before.
	ErrMemoryLimit = errors.New("the guest reached its memory limit")
	// ErrCompileTimeout means that a guest could not be compiled in time.
	ErrCompileTimeout = errors.New("the guest took too long to compile")
	// ErrClosed means that the engine, guest or instance was closed.
	ErrClosed = errors.New("closed")
)

// A TrapError is a guest's fault that ended its call.
type TrapError struct {
	// Cause says what the guest did, in plain words.
	Cause string
	// Function is where it did so: a name from the guest's name section, or
	// "function 12" if it has none, or "" if the place is not known.
	Function string
	// Stack are the functions that were running, the innermost first; imports of
	// the guest are among them.
	Stack []string
	// Err is the error of a plugin that ended the call, if one did: a
	// [*PanicError] if the plugin panicked.
	Err error

	memoryLimit uint64 // if it was reached
}

// Error is the cause, with the function.
func (e *TrapError) Error() string {
	where := ""
	if e.Function != "" {
		where = " in " + e.Function
	}
	return "the guest trapped" + where + ": " + e.Cause + memoryNote(e.memoryLimit)
}

// Unwrap is the error of the plugin.
func (e *TrapError) Unwrap() error { return e.Err }

// Is tells that the guest had reached its memory limit.
func (e *TrapError) Is(target error) bool { return target == ErrMemoryLimit && e.memoryLimit > 0 }

// An ExitError means that a guest ended itself where it should have answered. A
// plugin ends the guest so by returning one.
type ExitError struct {
	Code int

	memoryLimit uint64 // if it was reached
}

// Error gives the exit code.
func (e *ExitError) Error() string {
	return fmt.Sprintf("the guest exited with code %d", e.Code) + memoryNote(e.memoryLimit)
}

// Is tells that the guest had reached its memory limit.
func (e *ExitError) Is(target error) bool { return target == ErrMemoryLimit && e.memoryLimit > 0 }

func memoryNote(limit uint64) string {
	if limit == 0 {
		return ""
	}
	return fmt.Sprintf(" (it had reached its memory limit of %d MiB)", limit>>20)
}

// A PanicError is a plugin's panic. The guest does not get to see it.
type PanicError struct {
	// Import names the import that the plugin served.
	Import string
	Value  any
	// Stack is that of Go, for the plugin's author.
	Stack []byte
}

// Error names the import and the value of the panic.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.Import, e.Value) }

func newPanicError(name string, value any) error {
	return &PanicError{Import: name, Value: value, Stack: debug.Stack()}
}

// An importTrap carries the error of an import through the engine, which prints
// what it is given: so it is given nothing that anybody else wrote.
type importTrap struct {
	name string
	err  error
}

func (t *importTrap) Error() string { return "an import failed" }

// A setupError is an error that arose before anything of the guest's ran.
type setupError struct{ error }

// explain makes an error of the engine one of ours.
func (i *Instance) explain(err error) error {
	var setup setupError
	if errors.As(err, &setup) {
		return setup.error
	}
	memoryLimit := i.memory.reached()
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return &ExitError{Code: int(exit.ExitCode()), memoryLimit: memoryLimit}
	}
	t := &TrapError{memoryLimit: memoryLimit}
	var imp *importTrap
	var unserved *component.UnservedError
	switch {
	case errors.As(err, &imp):
		var asked *ExitError
		if errors.As(imp.err, &asked) {
			return &ExitError{Code: asked.Code, memoryLimit: memoryLimit}
		}
		t.Err = imp.err
		t.Cause = causeOf(imp.err)
		if errors.Is(imp.err, errNotServed) {
			t.Cause = i.notServed(imp.name)
		}
		t.Stack = i.guest.frames(imp.err)
	case errors.As(err, &unserved):
		t.Cause = i.notServed(unserved.Import)
	default:
		t.Cause = engineCause(causeOf(err))
	}
	t.Stack = append(t.Stack, i.guest.frames(err)...)
	t.Function = place(t.Stack)
	return t
}

// place is the innermost function of a stack that has a name, or else the
// innermost one: what linkers put between modules has none.
func place(stack []string) (where string) {
	for _, f := range stack {
		switch {
		case strings.HasPrefix(f, importMark):
		case !strings.HasPrefix(f, unnamedMark):
			return f
		case where == "":
			where = f
		}
	}
	return where
}

// notServed says that nothing serves an import, and what comes near it.
func (i *Instance) notServed(name string) string {
	text := fmt.Sprintf("%s: %v", name, errNotServed)
	iface, _, _ := strings.Cut(name, "#")
	bare, _, _ := strings.Cut(iface, "@")
	for _, p := range i.plugins {
		if have, _, _ := strings.Cut(p, "@"); have == bare {
			return text + "; the host has " + p
		}
	}
	return text
}

const (
	stackMark  = "\nwasm stack trace:"
	causeMark  = "wasm error: "
	importMark = "import "
	// unnamedMark begins what a function without a name is called.
	unnamedMark = "function "
)

// phases are how the canonical ABI begins an error of the function that it called
// for itself.
var phases = []string{"realloc: ", "post-return: "}

// engineCause is the engine's own word, with the phase of the call that it fell
// in. An error that has none is the canonical ABI's.
func engineCause(text string) string {
	before, cause, ok := strings.Cut(text, causeMark)
	if !ok {
		return text
	}
	for _, phase := range phases {
		if strings.HasSuffix(before, phase) {
			return phase + cause
		}
	}
	return cause
}

// causeOf is what an error says before the engine's stack trace.
func causeOf(err error) string {
	cause, _, _ := strings.Cut(err.Error(), stackMark)
	return strings.TrimSuffix(cause, " (recovered by wazero)")
}

// frame is a line of the engine's stack trace: a function of the guest's by its
// index, after the position of its module in a component; an import by its number;
// or a function of the canonical ABI. No name of a core module's is in it.
var frame = regexp.MustCompile(`(?m)^\t?(?:(?:` + modulePrefix + `(\d+))?\.\$(\d+)|` + importModule + `\.(\d+)|canon\.([^(\n]+))\(`)

// frames are the functions of the engine's stack traces in an error.
func (g *Guest) frames(err error) []string {
	_, traces, _ := strings.Cut(err.Error(), stackMark)
	var names []string
	for _, m := range frame.FindAllStringSubmatch(traces, -1) {
		name := g.moduleFrame
		if g.code.component != nil {
			name = g.componentFrame
		}
		if n := name(m); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// moduleFrame is the name for a frame of a core module, or "" for one that is not
// the guest's.
func (g *Guest) moduleFrame(m []string) string {
	if n, err := strconv.Atoi(m[3]); err == nil && n < len(g.imports) {
		return importMark + g.imports[n].String()
	}
	if n, err := strconv.ParseUint(m[2], 10, 32); err == nil && uint32(n) != g.yield {
		return functionName(g.names, uint32(n))
	}
	return ""
}

func functionName(names precheck.Names, index uint32) string {
	if name := names.Function(index); name != "" {
		return name
	}
	return fmt.Sprintf("%s%d", unnamedMark, index)
}
