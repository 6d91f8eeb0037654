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

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
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

func TestReplay(t *testing.T) {
	rec := `{"version":0,"launch":"c1","nonce":"n","identity":{"pid":0}}`
	launch := `{"step":"launched","launch":"c1","record":` + rec + `,"streams":{"dir":"/o","limit":9}}` + "\n"
	spawn := `{"step":"spawned","launch":"c1","child":{"pid":42,"start_time":7},"started_at":5}` + "\n"
	tests := []struct {
		name, text string
		launches   int
		bad        int
		check      func(*launched) bool
	}{
		{"empty", "", 0, 0, nil},
		{"launched", `{"step":"supervisor"}` + "\n" + launch, 1, 0, func(l *launched) bool { return !l.spawned && l.streams.Limit == 9 }},
		{"spawned", launch + spawn, 1, 0, func(l *launched) bool {
			return l.spawned && l.record.Identity.PID == 42 && l.record.StartedAt == 5
		}},
		{"demoted", launch + spawn + `{"step":"demoted","launch":"c1","work":"wrk_1"}`, 1, 0, func(l *launched) bool { return l.work == "wrk_1" }},
		{"ended", launch + `{"step":"ended","launch":"c1","exit":{"Code":3},"output":{}}`, 1, 0, func(l *launched) bool { return l.exit.Code == 3 && !l.settled }},
		{"settled", launch + `{"step":"settled","launch":"c1"}`, 1, 0, func(l *launched) bool { return l.settled }},
		{"never spawned", launch + `{"step":"not_spawned","launch":"c1"}`, 1, 0, func(l *launched) bool { return l.settled }},
		{"torn tail", launch + spawn[:20], 1, 1, func(l *launched) bool { return !l.spawned }},
		{"healed tail", launch + spawn[:20] + "\n" + spawn, 1, 1, func(l *launched) bool { return l.spawned }},
		{"nonsense", "abc\n\x00\x00\n[]\n" + launch, 1, 3, nil},
		{"twice", launch + launch, 1, 1, nil},
		{"unknown launch", spawn, 0, 1, nil},
		{"unknown step", launch + `{"step":"paid","launch":"c1"}`, 1, 1, nil},
		{"names differ", strings.Replace(launch, `"launch":"c1","record"`, `"launch":"c2","record"`, 1), 0, 1, nil},
		{"incomplete", launch + `{"step":"ended","launch":"c1"}` + "\n" + `{"step":"spawned","launch":"c1"}`, 1, 2, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := replay(strings.NewReader(tt.text))
			require.NoError(t, err)
			list, bad := a.launches, a.bad
			assert.Len(t, list, tt.launches)
			assert.Equal(t, tt.bad, bad)
			if tt.check != nil {
				assert.True(t, tt.check(list[0]), "%+v", list[0])
			}
		})
	}
}

func TestJournal_HealsAndCompacts(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	require.NoError(t, err)
	launch := entry{Step: stepLaunched, Launch: "c1", Record: &jobs.Record{Launch: "c1"}}
	require.NoError(t, j.write(launch))
	require.NoError(t, j.put([]byte(`{"step":"spaw`)))
	require.NoError(t, j.file.Close())

	j, err = openJournal(dir)
	require.NoError(t, err)
	require.NoError(t, j.write(entry{Step: stepDemoted, Launch: "c1", Work: "wrk_1"}))
	a, err := readJournal(dir)
	require.NoError(t, err)
	require.Len(t, a.launches, 1)
	assert.Equal(t, 1, a.bad)
	assert.Equal(t, "wrk_1", a.launches[0].work)

	require.NoError(t, j.rewrite(a.launches[0].entries()))
	require.NoError(t, j.write(entry{Step: stepEnded, Launch: "c1", Exit: &shell.Exit{Code: 1}, Output: &shell.Output{}}))
	a, err = readJournal(dir)
	require.NoError(t, err)
	assert.Zero(t, a.bad)
	require.Len(t, a.launches, 1)
	assert.Equal(t, "wrk_1", a.launches[0].work)
	assert.Equal(t, 1, a.launches[0].exit.Code)
	require.NoError(t, j.remove())
	a, err = readJournal(dir)
	require.NoError(t, err)
	assert.Empty(t, a.launches)
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"step":"launched","launch":"a","record":{"launch":"a"}}` + "\n" + `{"step":"spawned","launch":"a","child":{"pid":1}}`))
	f.Add([]byte("\n\n{}\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := replay(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, l := range a.launches {
			for _, e := range l.entries() {
				assert.Equal(t, l.record.Launch, e.Launch)
			}
		}
	})
}
