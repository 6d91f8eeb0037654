package wasi

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/murmur-capsule/murmur/host"
)

// Version is the version of WASI whose interfaces the plugins are.
const Version = "0.2.12"

// WorkdirPath is where a guest sees its directory.
const WorkdirPath = "/workdir"

// Config is what one instance of a guest gets. The zero value gives it the clock
// and random numbers, and nothing else.
type Config struct {
	// Args are the program's name and its arguments; Env is its environment, as
	// NAME=value.
	Args, Env []string
	// Stdin is the guest's standard input; nil stands for an empty one. It is
	// read as the guest reads, and by a goroutine if it may block. A read that is
	// in progress when the instance is closed is ended by a deadline, for a
	// reader that has SetReadDeadline (a network connection, os.Pipe), or by
	// closing the reader, if it has Close and is no file. Any other reader keeps
	// the goroutine until its Read returns.
	Stdin io.Reader
	// Stdout and Stderr get what the guest writes; nil stands for a writer that
	// swallows everything. The guest waits while they write. A writer that has
	// SetWriteDeadline is interrupted by it when the guest's call is cancelled.
	Stdout, Stderr io.Writer
	// Workdir is what the guest sees as [WorkdirPath]. It remains the caller's
	// to close, after the instance. Nil stands for no directory.
	Workdir *os.Root
	// ReadOnly keeps the guest from changing anything in its workdir.
	ReadOnly bool
}

// Plugins are the plugins for one instance. The error names what in the
// configuration cannot be shown to a guest.
func Plugins(c Config) ([]*host.Plugin, error) {
	i, err := newInstance(c)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(stateless)
	for _, p := range stateful {
		all = append(all, p.With(i))
	}
	return all, nil
}

// The plugins are made once. Those that an instance has a part of its own of have
// an *instance as their state.
var (
	stateless = []*host.Plugin{
		exitPlugin, terminalInputPlugin, terminalOutputPlugin, terminalStdinPlugin, terminalStdoutPlugin, terminalStderrPlugin,
		errorPlugin, pollPlugin, streamsPlugin,
		wallClockPlugin, timezonePlugin,
		randomPlugin, insecurePlugin, insecureSeedPlugin,
		filesystemPlugin,
		outgoingHandlerPlugin,
		networkPlugin, instanceNetworkPlugin, nameLookupPlugin,
		tcpPlugin, createTCPPlugin, udpPlugin, createUDPPlugin,
	}
	stateful = []*host.Plugin{
		environmentPlugin, stdinPlugin, stdoutPlugin, stderrPlugin, monotonicClockPlugin, preopensPlugin, httpTypesPlugin,
	}
)

// An instance is the part of WASI that one instance of a guest has for itself.
// The guest's calls come one after the other.
type instance struct {
	args   []string
	env    []variable
	cwd    *string
	stdin  *input
	stdout sink
	stderr sink
	files  *files // nil if there is no directory
	wake   waker
	// httpBytes is what the guest has the host hold for wasi:http.
	httpBytes int
	// scratch is what reads read into: the guest gets a copy.
	scratch []byte
}

func newInstance(c Config) (*instance, error) {
	i := &instance{args: c.Args, wake: make(waker, 1), stdout: newSink(c.Stdout), stderr: newSink(c.Stderr)}
	for _, a := range c.Args {
		if !utf8.ValidString(a) {
			return nil, fmt.Errorf("the argument %q is not UTF-8", a)
		}
	}
	env := c.Env
	if c.Workdir != nil {
		i.files = &files{root: c.Workdir, readOnly: c.ReadOnly}
		cwd := WorkdirPath
		i.cwd = &cwd
		// Not every program asks for initial-cwd.
		env = append([]string{"PWD=" + WorkdirPath}, env...)
	}
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" || !utf8.ValidString(e) {
			return nil, fmt.Errorf("the environment has %q, which is not NAME=value in UTF-8", e)
		}
		i.setenv(name, value)
	}
	i.stdin = newInput(c.Stdin, i.wake)
	return i, nil
}

// setenv sets a variable; the last one of a name counts.
func (i *instance) setenv(name, value string) {
	for n := range i.env {
		if i.env[n].Name == name {
			i.env[n].Value = value
			return
		}
	}
	i.env = append(i.env, variable{name, value})
}

// buffer is n bytes to read into, until the next call.
func (i *instance) buffer(n int) []byte {
	if cap(i.scratch) < n {
		i.scratch = make([]byte, n)
	}
	return i.scratch[:n]
}

// named is the full name of an interface.
func named(iface string) string { return iface + "@" + Version }
