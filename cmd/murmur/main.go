// Command murmur runs capsules, and shows what came of them.
//
// Results go to standard output. Everything else goes to standard error: the
// timeline of a run, warnings, and errors, which take one line and, where there
// is something to do about them, a second one that says what. The exit codes are
// 0 if all is well, 1 if a task failed, 2 if the command could not be carried
// out, 3 if it was ended by a timeout or a signal.
package main

import (
	"io"
	"os"

	"github.com/murmur-capsule/murmur/runtime"
)

func main() {
	runtime.Hook()
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		styleOut: styleFor(os.Stdout), styleErr: styleFor(os.Stderr),
	}
	os.Exit(a.run(os.Args[1:]))
}

// An app is one invocation of the command line.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	// styleOut and styleErr say what the two may look like.
	styleOut, styleErr style
}

// run carries out the command that args name and returns the exit code.
func (a *app) run(args []string) int {
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	f := asFailure(err)
	a.report(f)
	return f.code
}
