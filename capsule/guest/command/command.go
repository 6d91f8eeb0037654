// Package command is for a guest that is an ordinary command: a main function
// that the runtime runs afresh for each task. What it prints is the task's
// result; if it exits with a code other than 0 the task has failed, with the
// end of its standard error as the error's text.
//
//	func main() {
//		task, err := command.Task()
//		if err != nil {
//			log.Fatal(err)
//		}
//		fmt.Println(guest.Run(guest.Bash(task.Message)).Data)
//	}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -o guest.wasm .
package command

import (
	"fmt"
	"io"
	"os"

	"github.com/murmur-capsule/murmur/capsule/guest"
)

// Task returns the task that the command is run for: the message comes from
// standard input, the rest from the variables MURMUR_TASK_ID,
// MURMUR_TASK_CONTEXT_ID, MURMUR_TASK_ORIGIN and MURMUR_TASK_TRUST. An id that
// is not set is empty. A task without an origin is the user's; one without a
// trust is untrusted. An origin or a trust that is not known is an error.
func Task() (guest.Task, error) {
	return task(os.Getenv, os.Stdin)
}

func task(getenv func(string) string, stdin io.Reader) (guest.Task, error) {
	message, err := io.ReadAll(stdin)
	if err != nil {
		return guest.Task{}, fmt.Errorf("cannot read the message: %w", err)
	}
	t := guest.Task{
		ID:        getenv("MURMUR_TASK_ID"),
		ContextID: getenv("MURMUR_TASK_CONTEXT_ID"),
		Message:   string(message),
	}
	if t.Origin, err = parseOrigin(getenv("MURMUR_TASK_ORIGIN")); err != nil {
		return guest.Task{}, err
	}
	if t.Trust, err = parseTrust(getenv("MURMUR_TASK_TRUST")); err != nil {
		return guest.Task{}, err
	}
	return t, nil
}

func parseOrigin(text string) (guest.Origin, error) {
	if text == "" {
		return guest.OriginUser, nil
	}
	for o := guest.OriginUser; o <= guest.OriginSystem; o++ {
		if o.String() == text {
			return o, nil
		}
	}
	return 0, fmt.Errorf("cannot use MURMUR_TASK_ORIGIN=%q: not an origin", text)
}

func parseTrust(text string) (guest.Trust, error) {
	switch text {
	case "trusted":
		return guest.Trusted, nil
	case "", "untrusted":
		return guest.Untrusted, nil
	}
	return 0, fmt.Errorf("cannot use MURMUR_TASK_TRUST=%q: not a trust", text)
}
