package shell

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       Request
	}{
		{"a command", `{"binary":"bash","command":"echo"}`, Request{Binary: "bash", Command: "echo"}},
		{"arguments", `{"binary":"ls","args":["-l",""]}`, Request{Binary: "ls", Args: []string{"-l", ""}}},
		{"no arguments", `{"binary":"ls","args":[]}`, Request{Binary: "ls", Args: []string{}}},
		{"everything", ` {"background":true, "binary":"b","timeout_secs":1.5,"command":"c","env":{"B":"2","A":"1\n"},"stdin":"in\u0000","cwd":"a/b"} `,
			Request{
				Binary: "b", Command: "c", Env: []Variable{{"A", "1\n"}, {"B", "2"}},
				Stdin: []byte("in\x00"), Cwd: "a/b", Timeout: 1500 * time.Millisecond, Background: true,
			}},
		{"nothing on standard input", `{"binary":"b","command":"c","stdin":""}`, Request{Binary: "b", Command: "c", Stdin: []byte{}}},
		{"escapes", `{"binary":"b","command":"\ud83d\ude00 \\ud800 日本 \u00e9"}`, Request{Binary: "b", Command: `😀 \ud800 日本 é`}},
		{"a path that stays inside", `{"binary":"b","command":"c","cwd":"a/../b/."}`, Request{Binary: "b", Command: "c", Cwd: "a/../b/."}},
		{"a timeout beyond all", `{"binary":"b","command":"c","timeout_secs":1e300}`, Request{Binary: "b", Command: "c", Timeout: 1<<62 - 1}},
		{"the longest command", `{"binary":"b","command":"` + strings.Repeat("x", MaxArgument) + `"}`,
			Request{Binary: "b", Command: strings.Repeat("x", MaxArgument)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Parse([]byte(c.data))
			require.NoError(t, err)
			if c.want.Timeout > time.Hour {
				require.Greater(t, r.Timeout, 100*365*24*time.Hour)
				r.Timeout = c.want.Timeout
			}
			require.Equal(t, c.want, r)
		})
	}
}

func TestParseNamesTheField(t *testing.T) {
	with := func(field string) string { return `{"binary":"b","command":"c",` + field + `}` }
	for _, c := range []struct{ data, field, problem string }{
		{``, "data", "not valid JSON"},
		{`{`, "data", "not valid JSON"},
		{`{"binary":"b","command":"c"} {}`, "data", "not valid JSON"},
		{`{"binary":"b","command":"c"}x`, "data", "not valid JSON"},
		{`{"binary":"b","command":"c",}`, "data", "not valid JSON"},
		{`{'binary':'b'}`, "data", "not valid JSON"},
		{"{\"binary\":\"b\xff\",\"command\":\"c\"}", "data", "not valid UTF-8"},
		{strings.Repeat("[", 20000), "data", "not valid JSON"},
		{`[]`, "data", "a JSON object is needed, not an array"},
		{`"x"`, "data", "not a string"},
		{`null`, "data", "not null"},
		{`17`, "data", "not a number"},
		{strings.Repeat(" ", MaxRequest+1), "data", "16777217 bytes"},

		{`{"command":"c"}`, "binary", "missing"},
		{`{"binary":"b"}`, "command", "missing"},
		{`{"binary":"b","command":"c","args":[]}`, "args", "together with command"},
		{`{"binary":"b","command":""}`, "command", "empty"},
		{`{"binary":"b","command":" \n\t"}`, "command", "empty"},
		{`{"binary":"b","command":"c","command":"d"}`, "command", "given twice"},
		{`{"binary":"b","command":"c","comm\u0061nd":"d"}`, "command", "given twice"},
		{with(`"Stdin":"x"`), "Stdin", "unknown field"},
		{with(`"work_id":"x"`), "work_id", "unknown field"},
		{with(`"a\nb":1`), `"a\nb"`, "unknown field"},
		{with(`"` + strings.Repeat("x", 1000) + `":1`), strings.Repeat("x", 61) + "…", "unknown field"},

		{`{"binary":1,"command":"c"}`, "binary", "a string is needed, not a number"},
		{`{"binary":null,"command":"c"}`, "binary", "not null"},
		{`{"binary":"b","command":["c"]}`, "command", "not an array"},
		{`{"binary":"b","args":"c"}`, "args", "an array of strings is needed, not a string"},
		{`{"binary":"b","args":["a",2]}`, "args[1]", "not a number"},
		{`{"binary":"b","args":null}`, "args", "not null"},
		{with(`"env":[]`), "env", "a JSON object is needed, not an array"},
		{with(`"env":{"A":1}`), "env.A", "not a number"},
		{with(`"env":{"A":"1","A":"1"}`), "A", "given twice"},
		{with(`"stdin":{}`), "stdin", "not an object"},
		{with(`"cwd":false`), "cwd", "not a boolean"},
		{with(`"timeout_secs":"1"`), "timeout_secs", "a number is needed, not a string"},
		{with(`"timeout_secs":0`), "timeout_secs", "more than 0"},
		{with(`"timeout_secs":-1`), "timeout_secs", "more than 0"},
		{with(`"timeout_secs":1e999`), "timeout_secs", "out of range"},
		{with(`"background":"yes"`), "background", "true or false is needed, not a string"},
		{with(`"background":1`), "background", "not a number"},

		{`{"binary":"b","command":"\ud800"}`, "command", "half of a surrogate pair"},
		{`{"binary":"b","command":"\ud800\ud800"}`, "command", "half of a surrogate pair"},
		{`{"binary":"b","command":"\udc00\ud800"}`, "command", "half of a surrogate pair"},
		{`{"binary":"b","command":"a\u0000"}`, "command", "a NUL byte at offset 1 of 2 bytes"},
		{`{"binary":"b\u0000","command":"a"}`, "binary", "a NUL byte"},
		{`{"binary":"b","args":["","\u0000"]}`, "args[1]", "a NUL byte"},
		{`{"binary":"b","command":"` + strings.Repeat("x", MaxArgument+1) + `"}`, "command", "131072 bytes, the limit is 131071"},
		{`{"binary":"b","args":["` + strings.Repeat("x", 200000) + `"]}`, "args[0]", "200000 bytes"},

		{`{"binary":"b","args":[` + strings.Repeat(`"",`, MaxArguments/9) + `""]}`, "args", "more than 6291456 bytes together"},
		{with(`"env":{` + manyMembers(700_000) + `}`), "env", "more than 6291456 bytes together"},

		{with(`"cwd":""`), "cwd", "empty"},
		{with(`"cwd":"/etc"`), "cwd", "/etc is absolute"},
		{with(`"cwd":".."`), "cwd", "leaves the workdir"},
		{with(`"cwd":"a/../../b"`), "cwd", "leaves the workdir"},
		{with(`"cwd":"a\u0000b"`), "cwd", "a NUL byte"},
		{with(`"cwd":"` + strings.Repeat("a/", 3000) + `"`), "cwd", "6000 bytes"},
	} {
		_, err := Parse([]byte(c.data))
		var f *FieldError
		if assert.ErrorAs(t, err, &f, "%.80s", c.data) {
			assert.Equal(t, c.field, f.Field, "%.80s", c.data)
			assert.Contains(t, f.Problem, c.problem, "%.80s", c.data)
		}
	}
}

// manyMembers returns n members of an object, all with the empty string.
func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%d":"",`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"binary":"bash","command":"echo hi","env":{"A":"1"},"stdin":"x","cwd":"a","timeout_secs":1,"background":true}`,
		`{"binary":"ls","args":["-l","\u0000","\ud83d\ude00"]}`,
		`{"binary":"\ud800","command":"\\ud800"}`, `{`, `null`, `{"a":{"b":[1,2,{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data)
		if err != nil {
			require.ErrorAs(t, err, new(*FieldError))
			require.NotContains(t, *Refusal(err).Summary, "\n")
			return
		}
		require.True(t, (r.Args == nil) != (r.Command == ""), "one of the two")
		require.NotContains(t, r.Command+r.Binary+strings.Join(r.Args, ""), "\x00")
		require.GreaterOrEqual(t, r.Timeout, time.Duration(0))
	})
}

func BenchmarkRefuse(b *testing.B) {
	data := []byte(`{"binary":"curl","command":"-s https://example.org/install.sh","timeout_secs":30}`)
	p := &Policy{config: Config{Allow: []string{"bash", "ls", "git"}}}
	for b.Loop() {
		r, err := Parse(data)
		require.NoError(b, err)
		_, err = p.Prepare(r, "n", "t")
		Refusal(err)
	}
}
