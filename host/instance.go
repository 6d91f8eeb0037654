package host

import (
	"context"
	"io"
	"os"
)

// InstanceConfig is what one instance of a guest gets. The zero value gives it
// nothing.
type InstanceConfig struct {
	// Plugins serve the guest's imports. Of two for the same interface the first
	// is taken.
	Plugins []*Plugin
	// Args are the program's name and its arguments; Env is its environment, as
	// NAME=value.
	Args, Env []string
	// Stdin, Stdout and Stderr are the guest's standard streams. Nil stands for
	// an empty stream, or for one that swallows everything.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Workdir is what the guest sees as /workdir. It remains the caller's to
	// close, after the instance. Nil stands for no directory.
	Workdir *os.Root
	// ReadOnly keeps the guest from changing anything in its workdir.
	ReadOnly bool
}

// An Instance is a guest that was started. After any error of a call it is of no
// further use, and every later call fails.
type Instance struct{}

// Instantiate makes an instance: it links the guest, and runs its start function
// and its _initialize. The error names what cannot be linked, or is the guest's.
func (g *Guest) Instantiate(ctx context.Context, c InstanceConfig) (*Instance, error) { panic("not yet") }

// Handle gives a guest whose way is [Handler] one task. The text is the result,
// or the guest's own error if isErr. An err means that the guest did not answer:
// a [*TrapError], an [*ExitError], [ErrCanceled] or [ErrComputeLimit].
func (i *Instance) Handle(ctx context.Context, t Task) (text string, isErr bool, err error) {
	panic("not yet")
}

// RunLoop runs a guest whose way is [Looper], until it returns. The errors are
// those of [Instance.Handle].
func (i *Instance) RunLoop(ctx context.Context) error { panic("not yet") }

// RunCommand runs a guest whose way is [Command], and gives its exit code. It
// can be called once. The errors are those of [Instance.Handle].
func (i *Instance) RunCommand(ctx context.Context) (exit int, err error) { panic("not yet") }

// ResetCompute gives the call in progress its whole compute limit anew. A plugin
// that hands a looping guest its next task calls it.
func (i *Instance) ResetCompute() { panic("not yet") }

// Close frees the instance. A call in progress is interrupted, and frees it when
// it ends.
func (i *Instance) Close(ctx context.Context) error { panic("not yet") }
