package guest

import (
	"fmt"
	"io"
	"os"
	"slices"
)

// CommandTask returns the task of a guest that is an ordinary command: the
// message comes from standard input, the rest from the variables
// MURMUR_TASK_ID, MURMUR_TASK_CONTEXT_ID, MURMUR_TASK_ORIGIN and MURMUR_TASK_TRUST.
// A variable that is not set leaves its field empty; an origin or a trust that
// is not known is an error.
func CommandTask() (Task, error) {
	return commandTask(os.Getenv, os.Stdin)
}

func commandTask(getenv func(string) string, stdin io.Reader) (Task, error) {
	message, err := io.ReadAll(stdin)
	if err != nil {
		return Task{}, fmt.Errorf("cannot read the message: %w", err)
	}
	t := Task{
		ID:        getenv("MURMUR_TASK_ID"),
		ContextID: getenv("MURMUR_TASK_CONTEXT_ID"),
		Message:   string(message),
	}
	if t.Origin, err = parseOrigin(getenv("MURMUR_TASK_ORIGIN")); err != nil {
		return Task{}, err
	}
	t.Trust, err = parseTrust(getenv("MURMUR_TASK_TRUST"))
	return t, err
}

func parseOrigin(text string) (Origin, error) {
	if text == "" {
		return OriginUser, nil
	}
	i := slices.Index(originNames[:], text)
	if i < 0 {
		return 0, fmt.Errorf("cannot use MURMUR_TASK_ORIGIN=%q: not an origin", text)
	}
	return Origin(i), nil
}

// parseTrust takes a task without a trust for an untrusted one.
func parseTrust(text string) (Trust, error) {
	switch text {
	case "trusted":
		return Trusted, nil
	case "", "untrusted":
		return Untrusted, nil
	}
	return 0, fmt.Errorf("cannot use MURMUR_TASK_TRUST=%q: not a trust", text)
}
