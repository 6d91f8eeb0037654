package component

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wastTools names the folder that holds node_modules with
// @bytecodealliance/jco-transpile, which turns text into binaries.
const wastTools = "MURMUR_WAST_TOOLS"

// convertScript reads texts as JSON and answers binaries in base64, or what is
// wrong with a text.
const convertScript = `
import { parse } from 'wasm-tools';
import { readFileSync, writeFileSync } from 'node:fs';
const texts = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const out = [];
for (const text of texts) {
  try { out.push({ wasm: Buffer.from(await parse(text)).toString('base64') }); }
  catch (e) { out.push({ error: String(e.payload ?? e.message ?? e) }); }
}
writeFileSync(process.argv[3], JSON.stringify(out));
`

// converted is a text as a binary, or why it is none.
type converted struct {
	Wasm  []byte `json:"wasm"`
	Error string `json:"error"`
}

// convert turns component texts into binaries, all in one process.
func convert(t *testing.T, texts []string) []converted {
	t.Helper()
	tools := os.Getenv(wastTools)
	require.NotEmpty(t, tools, "set %s to a folder with node_modules/@bytecodealliance/jco-transpile", wastTools)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	lib := filepath.Join(tools, "node_modules/@bytecodealliance/jco-transpile/dist/wasm-tools.js")
	script := strings.Replace(convertScript, "'wasm-tools'", fmt.Sprintf("%q", lib), 1)
	require.NoError(t, os.WriteFile(file("convert.mjs"), []byte(script), 0o600))
	in, err := json.Marshal(append([]string{}, texts...))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file("in"), in, 0o600))
	said, err := exec.Command("node", file("convert.mjs"), file("in"), file("out")).CombinedOutput()
	require.NoError(t, err, "%s", said)
	data, err := os.ReadFile(file("out"))
	require.NoError(t, err)
	var out []converted
	require.NoError(t, json.Unmarshal(data, &out))
	require.Len(t, out, len(texts))
	return out
}

// component is a component form of a script: how it is written down and its
// binary.
type wastComponent struct {
	form   *sexpr
	name   string // $name
	kind   string // "", "definition", "instance", "quote"
	binary []byte
	fault  string // why there is no binary
	target string // of an instance: the definition
}

// wastText gives the text to convert, or "" if the form needs no conversion.
func (c *wastComponent) text(src string) string {
	if c.binary != nil || c.kind == "instance" || c.kind == "quote" {
		return ""
	}
	text := src[c.form.from:c.form.to]
	if c.kind == "definition" {
		text = strings.Replace(text, "definition", "", 1)
	}
	for _, r := range olderSyntax {
		text = r.newer.ReplaceAllString(text, r.older)
	}
	return text
}

// olderSyntax writes what a tool does not know yet in the way it does.
var olderSyntax = []struct {
	newer *regexp.Regexp
	older string
}{
	{regexp.MustCompile(`\(memory (\$\w+ "[^"]*")\)(\s*\(realloc)`), `(memory (core memory $1))$2`},
	{regexp.MustCompile(`\((realloc|post-return) \(func (\$\w+ "[^"]*")\)\)`), `($1 (core func $2))`},
}

// newWastComponent reads the head of a component form.
func newWastComponent(f *sexpr) *wastComponent {
	c := &wastComponent{form: f}
	for i := 1; i < len(f.list); i++ {
		switch w := f.word(i); {
		case w == "definition" || w == "quote":
			c.kind = w
		case w == "instance":
			c.kind = w
			c.name = f.word(i + 1)
			c.target = f.word(i + 2)
			return c
		case strings.HasPrefix(w, "$"):
			c.name = w
		case w == "binary":
			c.binary = []byte{}
			for _, s := range f.list[i+1:] {
				c.binary = append(c.binary, s.text...)
			}
			return c
		default:
			return c
		}
	}
	return c
}
