package supervisor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

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
		{"over the limit", strings.Replace(launch, "/o", strings.Repeat("o", maxLine), 1) + launch + spawn, 1, 1, func(l *launched) bool { return l.spawned }},
		{"over the limit and torn", launch + spawn + strings.Repeat("{", 2*maxLine), 1, 1, func(l *launched) bool { return l.spawned }},
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

// What is written can be read: a line that could not is refused, and does not keep
// others out.
func TestJournal_LineLimit(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir)
	require.NoError(t, err)
	launch := func(name, text string) entry {
		return entry{Step: stepLaunched, Launch: name, Record: &jobs.Record{Launch: name, Command: text}}
	}
	// The longest text that a record keeps, at its worst.
	require.NoError(t, j.write(launch("c1", strings.Repeat("\x01", shell.MaxArgument))))
	require.ErrorContains(t, j.write(launch("c2", strings.Repeat("x", maxLine))), "over the limit")
	many := make([]shell.Survivor, 100_000)
	require.NoError(t, j.write(endedEntry("c1", shell.Exit{Code: 3, LeftRunning: many, Survivors: many}, shell.Output{})))
	a, err := readJournal(dir)
	require.NoError(t, err)
	require.Len(t, a.launches, 1)
	assert.Zero(t, a.bad)
	assert.Equal(t, 3, a.launches[0].exit.Code)
	assert.Len(t, a.launches[0].exit.LeftRunning, maxNamed)
	require.NoError(t, j.remove())
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
