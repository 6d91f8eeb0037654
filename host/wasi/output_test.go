package wasi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func stdout(t *testing.T, w io.Writer) *outputStream {
	t.Helper()
	i, err := newInstance(Config{Stdout: w})
	require.NoError(t, err)
	return &outputStream{i: i, dst: i.stdout}
}

func TestWriting(t *testing.T) {
	ctx := context.Background()
	var out bytes.Buffer
	s := stdout(t, &out)
	assert.EqualValues(t, maxWrite, s.permit().OK)
	for _, text := range []string{"a", "", "bc"} {
		r, err := s.put(ctx, []byte(text), maxBlockingWrite)
		require.NoError(t, err)
		assert.False(t, r.IsErr)
	}
	_, err := s.put(ctx, zeroes(2), maxWrite)
	require.NoError(t, err)
	assert.Equal(t, "abc\x00\x00", out.String())
	assert.False(t, s.flushed().IsErr)
	s.drop()

	// A guest that does not keep to the rules ends.
	for _, limit := range []int{maxBlockingWrite, maxWrite} {
		_, err = s.put(ctx, make([]byte, limit+1), limit)
		assert.ErrorContains(t, err, "at a time")
		_, err = s.put(ctx, zeroes(1<<62), limit)
		assert.ErrorContains(t, err, "at a time")
	}

	_, err = stdout(t, nil).put(ctx, []byte("into nothing"), maxWrite)
	assert.NoError(t, err)
}

type failing struct{ err error }

func (f failing) Write(p []byte) (int, error) { return len(p) / 2, f.err }

func TestWritersThatFail(t *testing.T) {
	ctx := context.Background()
	_, closedPipe := io.Pipe()
	require.NoError(t, closedPipe.Close())
	for name, tc := range map[string]struct {
		w    io.Writer
		want errorCode
	}{
		"any":   {failing{errors.New("secret of the host's")}, codeIO},
		"short": {failing{}, codeIO},
		"pipe":  {closedPipe, codePipe},
	} {
		s := stdout(t, tc.w)
		r, err := s.put(ctx, []byte("text"), maxWrite)
		require.NoError(t, err, name)
		require.NotNil(t, r.Err.LastOperationFailed, name)
		assert.Equal(t, tc.want, r.Err.LastOperationFailed.Value.code, name)
		r, err = s.put(ctx, []byte("text"), maxWrite)
		require.NoError(t, err, name)
		assert.True(t, r.Err.Closed, name)
		assert.True(t, s.permit().Err.Closed, name)
		assert.True(t, s.flushed().Err.Closed, name)
		n, err := s.splice(ctx, stdin(t, strings.NewReader("x")), 1)
		require.NoError(t, err, name)
		assert.True(t, n.Err.Closed, name)
	}
}

// TestInterruptedWrite: a pipe that nobody reads does not hold up a call that is
// cancelled, and can be written to afterwards.
func TestInterruptedWrite(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	s := stdout(t, w)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		for {
			if _, err := s.put(ctx, make([]byte, maxWrite), maxWrite); err != nil {
				ended <- err
				return
			}
		}
	}()
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	again, err := s.put(context.Background(), []byte("x"), maxWrite)
	require.NoError(t, err)
	assert.False(t, again.IsErr)
}

func TestSplice(t *testing.T) {
	ctx := context.Background()
	var out bytes.Buffer
	s := stdout(t, &out)
	src := stdin(t, strings.NewReader(strings.Repeat("x", maxRead+10)))
	n, err := s.splice(ctx, src, 3)
	require.NoError(t, err)
	assert.EqualValues(t, 3, n.OK)
	for !n.IsErr {
		n, err = s.splice(ctx, src, 1<<62)
		require.NoError(t, err)
	}
	assert.True(t, n.Err.Closed)
	assert.Equal(t, maxRead+10, out.Len())
}
