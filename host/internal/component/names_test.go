package component

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseExternName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]parsedName{
		"a-b2-C3":                    {kind: namePlain, label: "a-b2-C3"},
		"[constructor]r":             {kind: nameConstructor, resource: "r"},
		"[method]r.do-it":            {kind: nameMethod, resource: "r", label: "do-it"},
		"[static]r.make":             {kind: nameStatic, resource: "r", label: "make"},
		"wasi:cli/run":               {kind: nameInterface, iface: "wasi:cli/run"},
		"wasi:cli/run@0.2.12":        {kind: nameInterface, iface: "wasi:cli/run", version: "0.2.12"},
		"a:b/c@1.0.0-rc.1+build.5-x": {kind: nameInterface, iface: "a:b/c", version: "1.0.0-rc.1+build.5-x"},
	} {
		got, err := parseExternName(externName{name: name})
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
	}
}

func TestParseExternName_refuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"unlocked-dep=<a:b>":             "compose the component with what it depends on",
		"aB":                             "is not in kebab case",
		"a--b":                           "is not in kebab case",
		"ü":                              "is not in kebab case",
		"[method]r":                      "failed to find `.` character",
		"[setter]r.x":                    "is not in kebab case",
		"a:b":                            "expected `/` after package name",
		"A:b/c":                          "is not in kebab case",
		"a:b/c/d":                        "trailing characters found: `/d`",
		"a:b/c@01.0.0":                   "invalid leading zero in major version number",
		"a:b/c@1.0.0-01":                 "invalid leading zero in pre-release identifier",
		"a:b/c@1.0.0-a..b":               "empty identifier segment in pre-release identifier",
		"a:b/c@1.0":                      "unexpected end of input while parsing minor version number",
		"a:b/c@1.0.0_":                   "unexpected character '_' after patch version number",
		"a:b/c@1.0.0+a_b":                "unexpected character '_' in build metadata",
		"a:b/c@1.99999999999999999999.0": "exceeds u64::MAX",
	} {
		_, err := parseExternName(externName{name: name})
		assert.ErrorContains(t, err, want, name)
	}
}

func TestParseExternName_attributes(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	_, err := parseExternName(externName{name: "a:b/c@0.2", versionSuffix: text(".6")})
	require.NoError(t, err)
	_, err = parseExternName(externName{name: "x", implements: text("a:b/c@0.2"), versionSuffix: text(".6")})
	require.NoError(t, err)
	_, err = parseExternName(externName{name: "a:b/c", versionSuffix: text(".6")})
	assert.ErrorContains(t, err, "`versionsuffix` needs an interface version")
	_, err = parseExternName(externName{name: "x", versionSuffix: text(".6")})
	assert.ErrorContains(t, err, "only interface names can have a `versionsuffix`")
	_, err = parseExternName(externName{name: "x", implements: text("y")})
	assert.ErrorContains(t, err, "must be an interface")
}

// The examples of the specification's section on name uniqueness.
func TestUniqueKey(t *testing.T) {
	t.Parallel()
	key := func(name string) string {
		p, err := parseExternName(externName{name: name})
		require.NoError(t, err)
		return p.uniqueKey(name)
	}
	seen := map[string]bool{}
	for _, n := range []string{"foo", "foo-bar", "[constructor]foo", "[method]foo.bar", "[static]foo.baz", "foo:bar/baz"} {
		assert.False(t, seen[key(n)], n)
		seen[key(n)] = true
	}
	for _, n := range []string{"FOO", "foo-BAR", "[constructor]FOO", "[method]foo.BAR", "[static]foo.bar",
		"[method]foo.baz", "[method]foo.foo", "[static]foo-BAR.FOO-bar", "foo:bar/BAZ"} {
		assert.True(t, seen[key(n)], n)
	}
}
