package capsuletest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Check returns what is wrong with a text, one line for each condition that
// does not hold.
func (x Text) Check(text string) []string {
	var wrong []string
	if x.Equals != nil && text != *x.Equals {
		wrong = append(wrong, fmt.Sprintf("want %s, got %s", show(*x.Equals), show(text)))
	}
	for _, part := range x.Contains {
		if !strings.Contains(text, part) {
			wrong = append(wrong, fmt.Sprintf("%s is not in %s", show(part), show(text)))
		}
	}
	for _, part := range x.Lacks {
		if strings.Contains(text, part) {
			wrong = append(wrong, fmt.Sprintf("%s is in %s", show(part), show(text)))
		}
	}
	for _, expr := range x.Matches {
		if !matches(expr, text) {
			wrong = append(wrong, fmt.Sprintf("%s does not match %s", show(text), expr))
		}
	}
	if x.JSON != nil {
		wrong = append(wrong, checkJSON(x.JSON, text)...)
	}
	return wrong
}

func (x Text) validate() error {
	for _, expr := range x.Matches {
		if _, err := compile(expr); err != nil {
			return err
		}
	}
	return validatePatterns(x.JSON)
}

func compile(expr string) (*regexp.Regexp, error) { return regexp.Compile("(?s)" + expr) }

func matches(expr, text string) bool {
	re, err := compile(expr)
	return err == nil && re.MatchString(text)
}

// show quotes a text for a report, in one line and not too long.
func show(text string) string {
	const limit = 2000
	if r := []rune(text); len(r) > limit {
		return fmt.Sprintf("%q…", string(r[:limit]))
	}
	return fmt.Sprintf("%q", text)
}

// The members of an object that stands for a condition on a string.
const (
	containsKey = "$contains"
	matchesKey  = "$matches"
)

// condition returns the key and the text of an object that stands for a
// condition on a string.
func condition(want map[string]any) (key, text string, ok bool) {
	if len(want) != 1 {
		return "", "", false
	}
	for _, key := range []string{containsKey, matchesKey} {
		if text, ok := want[key].(string); ok {
			return key, text, true
		}
	}
	return "", "", false
}

func validatePatterns(want any) error {
	switch want := want.(type) {
	case map[string]any:
		if key, text, ok := condition(want); ok && key == matchesKey {
			_, err := compile(text)
			return err
		}
		for _, v := range want {
			if err := validatePatterns(v); err != nil {
				return err
			}
		}
	case []any:
		for _, v := range want {
			if err := validatePatterns(v); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkJSON(want any, text string) []string {
	var got any
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return []string{fmt.Sprintf("it is no JSON (%v): %s", err, show(text))}
	}
	return compare("$", want, got)
}

// compare reports where got lacks something of want.
func compare(path string, want, got any) []string {
	switch want := want.(type) {
	case map[string]any:
		if key, text, ok := condition(want); ok {
			return compareText(path, key, text, got)
		}
		return compareObject(path, want, got)
	case []any:
		return compareList(path, want, got)
	}
	if scalar(want) != scalar(got) {
		return []string{fmt.Sprintf("%s: want %s, got %s", path, encode(want), encode(got))}
	}
	return nil
}

func compareText(path, key, want string, got any) []string {
	text, ok := got.(string)
	switch {
	case !ok:
		return []string{fmt.Sprintf("%s: want a string, got %s", path, encode(got))}
	case key == containsKey && !strings.Contains(text, want):
		return []string{fmt.Sprintf("%s: %s is not in %s", path, show(want), show(text))}
	case key == matchesKey && !matches(want, text):
		return []string{fmt.Sprintf("%s: %s does not match %s", path, show(text), want)}
	}
	return nil
}

func compareObject(path string, want map[string]any, got any) (wrong []string) {
	object, ok := got.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: want an object, got %s", path, encode(got))}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		v, ok := object[key]
		if !ok {
			wrong = append(wrong, fmt.Sprintf("%s.%s is missing in %s", path, key, encode(got)))
			continue
		}
		wrong = append(wrong, compare(path+"."+key, want[key], v)...)
	}
	return wrong
}

func compareList(path string, want []any, got any) (wrong []string) {
	list, ok := got.([]any)
	if !ok || len(list) != len(want) {
		return []string{fmt.Sprintf("%s: want a list of %d, got %s", path, len(want), encode(got))}
	}
	for i := range want {
		wrong = append(wrong, compare(fmt.Sprintf("%s[%d]", path, i), want[i], list[i])...)
	}
	return wrong
}

// scalar makes the numbers of YAML and of JSON comparable. Lists and objects
// become a value that no scalar equals.
func scalar(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case int:
		return float64(v)
	case []any, map[string]any:
		return &v
	}
	return v
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(data) > 2000 {
		return string(data[:2000]) + "…"
	}
	return string(data)
}
