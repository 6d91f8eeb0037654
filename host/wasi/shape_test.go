package wasi

import (
	_ "embed"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host"
)

// witText is what WASI's WIT says of every function, with the types spelt out:
// lines "$name = type" for types that occur often, then interfaces, each followed
// by its functions on lines of their own, indented.
//
//go:embed testdata/wit.txt
var witText string

var typeName = regexp.MustCompile(`\$[A-Za-z0-9.-]*[A-Za-z0-9]`)

// spelt are the types of witText in full, and its functions by their interface.
func spelt(t *testing.T) (types map[string]string, functions map[string][]string) {
	types, functions = map[string]string{}, map[string][]string{}
	var spell func(s string) string
	spell = func(s string) string {
		return typeName.ReplaceAllStringFunc(s, func(name string) string {
			require.Contains(t, types, name)
			return spell(types[name])
		})
	}
	iface := ""
	for line := range strings.Lines(witText) {
		line = strings.TrimRight(line, "\n")
		switch name, text, _ := strings.Cut(line, " = "); {
		case strings.HasPrefix(line, "$"):
			types[name] = text
		case strings.HasPrefix(line, "\t"):
			functions[iface] = append(functions[iface], spell(line[1:]))
		default:
			iface = line
			functions[iface] = nil
		}
	}
	for name, text := range types {
		types[name] = spell(text)
	}
	return types, functions
}

func TestFunctionsHaveTheTypesOfTheWIT(t *testing.T) {
	_, want := spelt(t)
	plugins, err := Plugins(Config{})
	require.NoError(t, err)
	have := map[string][]string{}
	for _, p := range plugins {
		require.NoError(t, p.Err())
		name, version, _ := strings.Cut(p.Name(), "@")
		assert.Equal(t, Version, version, name)
		have[name] = p.Functions()
	}
	require.Len(t, have, len(want))
	for iface, functions := range want {
		require.Contains(t, have, iface)
		require.Len(t, have[iface], len(functions), iface)
		for n, f := range functions {
			assertText(t, f, have[iface][n], iface)
		}
	}
}

// assertText compares the text of a type with one that host may have cut.
func assertText(t *testing.T, want, have, what string) {
	t.Helper()
	if text, cut := strings.CutSuffix(have, "…"); cut {
		assert.True(t, strings.HasPrefix(want, text), "%s: %s\n%s", what, want, have)
		return
	}
	assert.Equal(t, want, have, what)
}

// TestHTTPErrorCode looks at the type that is too long for a text.
func TestHTTPErrorCode(t *testing.T) {
	payloads := map[string]string{
		"bool": "", "**uint64": "(option<u64>)", "**uint32": "(option<u32>)", "**string": "(option<string>)",
		"*wasi.dnsErrorPayload":   "(" + text[dnsErrorPayload](t) + ")",
		"*wasi.tlsAlertPayload":   "(" + text[tlsAlertPayload](t) + ")",
		"*wasi.fieldSizePayload":  "(" + text[fieldSizePayload](t) + ")",
		"**wasi.fieldSizePayload": "(option<" + text[fieldSizePayload](t) + ">)",
	}
	var cases []string
	g := reflect.TypeFor[httpCode]()
	for n := range g.NumField() {
		f := g.Field(n)
		require.Contains(t, payloads, f.Type.String())
		cases = append(cases, f.Tag.Get("wit")+payloads[f.Type.String()])
	}
	types, _ := spelt(t)
	assert.Equal(t, types["$http.types.error-code"], "variant {"+strings.Join(cases, ", ")+"}")
}

func text[T any](t *testing.T) string {
	s, err := host.TypeText[T]()
	require.NoError(t, err)
	return s
}
