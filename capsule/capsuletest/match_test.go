package capsuletest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/capsule/capsuletest"
)

func TestText_Check(t *testing.T) {
	for _, tt := range []struct {
		name, expect, text string
		want               []string
	}{
		{"nothing is asked for", `{}`, "anything", nil},
		{"equal", `{equals: "a\nb"}`, "a\nb", nil},
		{"not equal", `{equals: a}`, "b", []string{`want "a", got "b"`}},
		{"equal to nothing", `{equals: ""}`, "", nil},
		{"contains", `{contains: [a, b]}`, "b a", nil},
		{"does not contain", `{contains: [a, c]}`, "b a", []string{`"c" is not in "b a"`}},
		{"lacks", `{lacks: [a, c]}`, "b a", []string{`"a" is in "b a"`}},
		{"matches over lines", `{matches: ["^a.b$"]}`, "a\nb", nil},
		{"does not match", `{matches: ["^b"]}`, "a", []string{`"a" does not match ^b`}},
		{"everything at once", `{equals: x, contains: [y], matches: [z]}`, "w", []string{
			`want "x", got "w"`, `"y" is not in "w"`, `"w" does not match z`}},
		{"not JSON", `{json: {}}`, "{", []string{`it is no JSON (unexpected end of JSON input): "{"`}},
		{"members", `{json: {a: 1, b: x, c: true, d: null}}`, `{"a":1,"b":"x","c":true,"d":null,"e":5}`, nil},
		{"fraction", `{json: 1.5}`, `1.5`, nil},
		{"missing member", `{json: {a: {b: 1}}}`, `{"a":{}}`, []string{`$.a.b is missing in {}`}},
		{"other member", `{json: {a: 1}}`, `{"a":"1"}`, []string{`$.a: want 1, got "1"`}},
		{"no object", `{json: {a: 1}}`, `[1]`, []string{`$: want an object, got [1]`}},
		{"list", `{json: [1, {a: 2}]}`, `[1,{"a":2,"b":3}]`, nil},
		{"short list", `{json: [1, 2]}`, `[1]`, []string{`$: want a list of 2, got [1]`}},
		{"element", `{json: [1]}`, `[2]`, []string{`$[0]: want 1, got 2`}},
		{"scalar and object", `{json: 1}`, `{"a":1}`, []string{`$: want 1, got {"a":1}`}},
		{"part of a string", `{json: {a: {$contains: b}}}`, `{"a":"abc"}`, nil},
		{"not part of a string", `{json: {a: {$contains: x}}}`, `{"a":"abc"}`, []string{`$.a: "x" is not in "abc"`}},
		{"string that matches", `{json: {a: {$matches: ^a.c$}}}`, `{"a":"abc"}`, nil},
		{"string that does not match", `{json: {a: {$matches: ^b}}}`, `{"a":"abc"}`, []string{`$.a: "abc" does not match ^b`}},
		{"no string to match", `{json: {a: {$matches: ^b}}}`, `{"a":1}`, []string{`$.a: want a string, got 1`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := capsuletest.ParseExpectation([]byte("tasks: [{message: x, result: " + tt.expect + "}]"))
			require.NoError(t, err)
			assert.Equal(t, tt.want, e.Tasks[0].Result.Check(tt.text))
		})
	}
}
