package wasi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/murmur-capsule/murmur/host"
)

// stdin is the standard input of an instance, as its guest gets it. What is left
// of it at the end is a failure.
func stdin(t *testing.T, r io.Reader) *inputStream {
	t.Helper()
	i, err := newInstance(Config{Stdin: r})
	require.NoError(t, err)
	own := i.openStdin()
	t.Cleanup(func() {
		own.Value.drop()
		goleak.VerifyNone(t)
	})
	return own.Value
}

// readAll reads to the end, waiting where it has to.
func readAll(t *testing.T, s *inputStream) (string, *streamError) {
	t.Helper()
	var all bytes.Buffer
	for {
		p, failure, err := s.blockingRead(context.Background(), 7)
		require.NoError(t, err)
		if failure != nil {
			return all.String(), failure
		}
		all.Write(p)
	}
}

// A slowReader gives what it is sent, piece by piece, and has nothing that would
// end a read but its channel.
type slowReader chan string

func (r slowReader) Read(p []byte) (int, error) {
	s, ok := <-r
	if !ok {
		return 0, io.EOF
	}
	return copy(p, s), nil
}

func TestReadingInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	text := strings.Repeat("some text ", 10_000)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	piped := func() io.Reader {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { r.Close() })
		go func() {
			_, _ = w.WriteString(text)
			w.Close()
		}()
		return r
	}
	for name, open := range map[string]func() io.Reader{
		"text":        func() io.Reader { return strings.NewReader(text) },
		"buffer":      func() io.Reader { return bytes.NewBufferString(text) },
		"file":        func() io.Reader { return file },
		"other":       func() io.Reader { return io.MultiReader(strings.NewReader(text)) },
		"data at end": func() io.Reader { return iotest.DataErrReader(strings.NewReader(text)) },
		"halves":      func() io.Reader { return iotest.HalfReader(strings.NewReader(text)) },
		"pipe":        piped,
	} {
		t.Run(name, func(t *testing.T) {
			got, failure := readAll(t, stdin(t, open()))
			assert.Equal(t, text, got)
			assert.Equal(t, &streamError{Closed: true}, failure)
		})
	}
	got, failure := readAll(t, stdin(t, nil))
	assert.Empty(t, got)
	assert.True(t, failure.Closed)
}

func TestInputThatIsNotThereYet(t *testing.T) {
	r := make(slowReader)
	s := stdin(t, r)
	p, failure := s.read(10)
	assert.Nil(t, failure)
	assert.Empty(t, p)
	event := s.src.pollable(s.i)
	assert.False(t, event.ready())
	r <- "hello"
	ready, err := poll(context.Background(), []host.Borrow[*pollable]{{Value: event}})
	require.NoError(t, err)
	assert.Equal(t, []uint32{0}, ready)
	p, failure = s.read(3)
	assert.Nil(t, failure)
	assert.Equal(t, "hel", string(p))
	assert.True(t, event.ready())
	n, failure := s.read(0)
	assert.Nil(t, failure)
	assert.Empty(t, n)
	p, failure, err = s.blockingRead(context.Background(), 100)
	require.NoError(t, err)
	assert.Nil(t, failure)
	assert.Equal(t, "lo", string(p))
	assert.False(t, event.ready())
	close(r)
	_, failure, err = s.blockingRead(context.Background(), 100)
	require.NoError(t, err)
	assert.True(t, failure.Closed)
	assert.True(t, event.ready())
	event.drop()
}

func TestInputThatFails(t *testing.T) {
	s := stdin(t, iotest.ErrReader(errors.New("secret of the host's")))
	_, failure, err := s.blockingRead(context.Background(), 1)
	require.NoError(t, err)
	require.NotNil(t, failure.LastOperationFailed)
	assert.Equal(t, codeIO, failure.LastOperationFailed.Value.code, "and no text of the host's")
	_, failure, err = s.blockingRead(context.Background(), 1)
	require.NoError(t, err)
	assert.True(t, failure.Closed)
}

// TestInputThatNeverComes: readers that give nothing, and no error, are given up.
func TestInputThatNeverComes(t *testing.T) {
	for name, r := range map[string]io.Reader{"direct": bytes.NewReader(nil), "other": idle{}} {
		got, failure := readAll(t, stdin(t, r))
		assert.Empty(t, got, name)
		assert.NotNil(t, failure, name)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestInterruptedReads: a wait ends with its context, and no read is left when
// the last handle is dropped.
func TestInterruptedReads(t *testing.T) {
	osPipe := func() (io.Reader, func()) {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		return r, func() { r.Close(); w.Close() }
	}
	ioPipe := func() (io.Reader, func()) {
		r, w := io.Pipe()
		return r, func() { w.Close() }
	}
	for name, open := range map[string]func() (io.Reader, func()){"deadline": osPipe, "close": ioPipe} {
		t.Run(name, func(t *testing.T) {
			r, closeAll := open()
			defer closeAll()
			s := stdin(t, r)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() {
				_, _, err := s.blockingRead(ctx, 1)
				ended <- err
			}()
			cancel()
			assert.ErrorIs(t, <-ended, context.Canceled)
		})
	}
}

// TestInputGoesOn: what an interrupted read did not get, the next one does.
func TestInputGoesOn(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	i, err := newInstance(Config{Stdin: r})
	require.NoError(t, err)
	first := i.openStdin()
	p, failure := first.Value.read(1)
	assert.Nil(t, failure)
	assert.Empty(t, p)
	first.Value.drop()
	goleak.VerifyNone(t)
	_, err = w.WriteString("late")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	second := i.openStdin()
	defer second.Value.drop()
	got, _ := readAll(t, second.Value)
	assert.Equal(t, "late", got)
}

// TestHandlesOfOneInput share what is read.
func TestHandlesOfOneInput(t *testing.T) {
	s := stdin(t, strings.NewReader("abcdef"))
	other := s.i.openStdin().Value
	p, _ := s.read(2)
	assert.Equal(t, "ab", string(p))
	p, _ = other.read(2)
	assert.Equal(t, "cd", string(p))
	other.drop()
	p, _ = s.read(2)
	assert.Equal(t, "ef", string(p))
}
