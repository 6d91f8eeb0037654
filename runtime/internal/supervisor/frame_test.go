package supervisor

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

func TestFrame_RoundTrip(t *testing.T) {
	var stream bytes.Buffer
	sent := []message{
		{Kind: kindHello, Hello: &hello{Protocol: 1, Role: roleRuntime, Known: []string{"a"}}},
		{Kind: kindStart, ID: 1, Launch: &shell.Launch{Name: "x", Stdin: []byte{0, 255}, Text: "<&\u2028>"}},
		{Kind: kindDone, ID: 1, Error: &wireError{Text: "no", Errno: syscall.ENOSPC}},
		{Kind: kindEnded, Name: "x", Exit: &shell.Exit{Code: 3}, Output: &shell.Output{StdoutBytes: 1}},
	}
	for _, m := range sent {
		frame, err := appendFrame(m)
		require.NoError(t, err)
		stream.Write(frame)
	}
	for _, want := range sent {
		var got message
		require.NoError(t, readFrame(&stream, &got))
		assert.Equal(t, want, got)
	}
	var m message
	assert.Equal(t, io.EOF, readFrame(&stream, &m))
}

func TestFrame_Bad(t *testing.T) {
	frame := func(n uint32, body string) string {
		return string(binary.BigEndian.AppendUint32(nil, n)) + body
	}
	for text, want := range map[string]string{
		"\x00\x00":                      "unexpected EOF",
		frame(5, "{}"):                  "unexpected EOF",
		frame(maxFrame+1, ""):           "frame too large",
		frame(0xffffffff, ""):           "frame too large",
		frame(maxFrame, "{"):            "unexpected EOF",
		frame(0, ""):                    "bad frame",
		frame(3, "abc"):                 "bad frame",
		frame(8, `{"id":-1`):            "bad frame",
		frame(12, `{"kind":[1]}`):       "bad frame",
		frame(18, `{"id":1}{"id":2}  `): "bad frame",
	} {
		var m message
		assert.ErrorContains(t, readFrame(strings.NewReader(text), &m), want, "%q", text)
	}
	_, err := appendFrame(message{Launch: &shell.Launch{Stdin: make([]byte, maxFrame)}})
	assert.ErrorIs(t, err, errFrameSize)
}

// A length is no reason to allocate.
func TestFrame_MemoryFollowsWhatArrives(t *testing.T) {
	header := binary.BigEndian.AppendUint32(nil, maxFrame)
	var m message
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = readFrame(bytes.NewReader(header), &m)
		}
	}).AllocedBytesPerOp()
	assert.Less(t, allocated, int64(4*firstRead))
}

func FuzzReadFrame(f *testing.F) {
	for _, m := range []message{{}, {Kind: kindStop, Name: "x", Nonce: "y"}, {Kind: kindStart, Launch: &shell.Launch{Args: []string{"a"}}}} {
		frame, err := appendFrame(m)
		require.NoError(f, err)
		f.Add(frame)
	}
	f.Add([]byte{0, 0, 0, 2, '{', '}'})
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m message
		if readFrame(bytes.NewReader(data), &m) != nil {
			return
		}
		frame, err := appendFrame(m)
		require.NoError(t, err)
		var again message
		require.NoError(t, readFrame(bytes.NewReader(frame), &again))
	})
}

func TestWireError(t *testing.T) {
	require.NoError(t, toWire(nil).err())
	err := toWire(&hidden{syscall.ENOENT}).err()
	require.ErrorIs(t, err, syscall.ENOENT)
	assert.EqualError(t, err, "wrapped")
}

type hidden struct{ err error }

func (h *hidden) Error() string { return "wrapped" }
func (h *hidden) Unwrap() error { return h.err }
