package shell

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestQuote(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"plain text", "plain text"},
		{`with "quotes" and \`, `with "quotes" and \`},
		{"日本語 é", "日本語 é"},
		{"", `""`},
		{"a\nstatus: ok", `"a\nstatus: ok"`},
		{"a\tb", `"a\tb"`},
		{"a\rb", `"a\rb"`},
		{"\x1b[31m", `"\x1b[31m"`},
		{"\x00", `"\x00"`},
		{"a\x7f", `"a\x7f"`},
		{"\xff", `"\xff"`},
		{"a\u202eb", `"a\u202eb"`}, // right-to-left override
		{"a\u2028b", `"a\u2028b"`}, // line separator
		{"a\u0085b", `"a\u0085b"`}, // next line
	} {
		assert.Equal(t, c.want, Quote(c.value))
	}
}

func TestCommandText(t *testing.T) {
	assert.Equal(t, " as  written # ", CommandText(Request{Command: " as  written # "}))
	assert.Equal(t, `ls 'a b' it\'s ''`, CommandText(Request{Binary: "ls", Args: []string{"a b", "it's", ""}}))
	assert.Equal(t, `ls`, CommandText(Request{Binary: "ls", Args: []string{}}))

	long := CommandText(Request{Command: strings.Repeat("日", 1000)})
	assert.True(t, utf8.ValidString(long))
	assert.LessOrEqual(t, len(long), 1024)
	assert.True(t, strings.HasSuffix(long, "日…"))
	exact := strings.Repeat("x", 1024)
	assert.Equal(t, exact, CommandText(Request{Command: exact}))
}

func TestResourceLimitLine(t *testing.T) {
	assert.Equal(t, "resource_limit: cgroup_pids_max", ResourceLimitLine("cgroup_pids_max"))
	assert.Equal(t, `resource_limit: "a\nstatus: ok"`, ResourceLimitLine("a\nstatus: ok"))
}

func TestSurvivorList(t *testing.T) {
	assert.Empty(t, SurvivorList(nil))
	assert.Equal(t, `sleep (pid 12), "a\nb" (pid 13)`, SurvivorList([]Survivor{{12, "sleep"}, {13, "a\nb"}}))
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`a b`, []string{"a", "b"}},
		{"a\tb\nc", []string{"a", "b", "c"}},
		{`  a  `, []string{"a"}},
		{`''`, []string{""}},
		{`"" a ''`, []string{"", "a", ""}},
		{`a''b""c`, []string{"abc"}},
		{`'a b' "c d" e\ f`, []string{"a b", "c d", "e f"}},
		{`'a\b"c'`, []string{`a\b"c`}},
		{`"a\"b\\c\$d\` + "`" + `e\f'"`, []string{`a"b\c$d` + "`" + `e\f'`}},
		{`it\'s`, []string{"it's"}},
		{"a\\\nb \\\n c", []string{"ab", "c"}},
		{"\"a\\\nb\"", []string{"ab"}},
		{"'a\\\nb'", []string{"a\\\nb"}},
		{`a#b #c`, []string{"a#b", "#c"}},
		{`$HOME $(id) ` + "`id`" + ` * ~ {a,b} | ; & > <`, []string{"$HOME", "$(id)", "`id`", "*", "~", "{a,b}", "|", ";", "&", ">", "<"}},
		{"a\rb\vc\u00a0d", []string{"a\rb\vc\u00a0d"}},
		{`日本 'é é'`, []string{"日本", "é é"}},
	} {
		got, err := words(c.text)
		require.NoError(t, err, "%q", c.text)
		assert.Equal(t, c.want, got, "%q", c.text)
	}
}

func TestWordsRefusesWhatIsOpen(t *testing.T) {
	for text, problem := range map[string]string{
		`'a`:   "unterminated single-quoted string",
		`"a`:   "unterminated double-quoted string",
		`"a\"`: "unterminated double-quoted string",
		`a\`:   "unterminated backslash-escape",
		`it's`: "unterminated single-quoted string",
	} {
		_, err := words(text)
		assert.EqualError(t, err, "command: "+problem)
	}
}

// TestWordsAgreesWithTheShell compares with sh over every text of a few
// characters that quoting is about.
func TestWordsAgreesWithTheShell(t *testing.T) {
	const alphabet = "a '\"\\\n"
	var texts []string
	for n, level := 0, []string{""}; n < 4; n++ {
		var next []string
		for _, text := range level {
			for _, c := range alphabet {
				next = append(next, text+string(c))
			}
		}
		texts = append(texts, next...)
		level = next
	}
	var script strings.Builder
	var want []string
	for _, text := range texts {
		got, err := words(text)
		// To the shell an unquoted newline ends a command; here it is a blank.
		if err != nil || strings.Contains(strings.NewReplacer(`\\`, "", "\\\n", "").Replace(text), "\n") {
			continue
		}
		script.WriteString("show " + text + "\n")
		want = append(want, strings.Join(got, "|"))
	}
	out, err := exec.Command("sh", "-c", `IFS='|'; show() { printf '%s\0' "$*"; }`+"\n"+script.String()).Output()
	require.NoError(t, err)
	require.Greater(t, len(want), 250)
	require.Equal(t, want, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{`a 'b c' "d\"e" f\ g`, `it's`, "a\\\nb", `"\`, "\xff'\xfe'", "''"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := words(text)
		if err != nil {
			require.ErrorAs(t, err, new(*FieldError))
			return
		}
		r := Request{Binary: "b", Args: list}
		again, err := words(r.Text())
		require.NoError(t, err)
		if utf8.ValidString(text) {
			require.Equal(t, append([]string{"b"}, list...), again, "what is shown can be read back")
		}
	})
}
