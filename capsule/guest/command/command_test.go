package command

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule/guest"
)

func TestTask(t *testing.T) {
	env := map[string]string{
		"MURMUR_TASK_ID": "tsk_1", "MURMUR_TASK_CONTEXT_ID": "ctx_1",
		"MURMUR_TASK_ORIGIN": "completion", "MURMUR_TASK_TRUST": "trusted",
	}
	get := func(name string) string { return env[name] }
	got, err := task(get, strings.NewReader("hi\n"))
	require.NoError(t, err)
	assert.Equal(t, guest.Task{ID: "tsk_1", ContextID: "ctx_1", Origin: guest.OriginCompletion, Trust: guest.Trusted, Message: "hi\n"}, got)

	env["MURMUR_TASK_TRUST"] = "Trusted"
	_, err = task(get, strings.NewReader(""))
	assert.EqualError(t, err, `cannot use MURMUR_TASK_TRUST="Trusted": not a trust`)

	env["MURMUR_TASK_ORIGIN"] = "me"
	_, err = task(get, strings.NewReader(""))
	assert.EqualError(t, err, `cannot use MURMUR_TASK_ORIGIN="me": not an origin`)

	_, err = task(get, iotest.ErrReader(errors.New("broken pipe")))
	assert.EqualError(t, err, "cannot read the message: broken pipe")

	// Outside a session nothing vouches for the task.
	got, err = Task()
	require.NoError(t, err)
	assert.Equal(t, guest.Untrusted, got.Trust)
	assert.Equal(t, guest.OriginUser, got.Origin)
}
