package component

import (
	"fmt"
	"strings"
)

// checkSemver checks a version by the grammar of semver.org, saying what is
// wrong in the order in which a reader meets it.
func checkSemver(s string) error {
	if s == "" {
		return fmt.Errorf("empty string, expected a semver version")
	}
	rest := s
	for i, what := range []string{"major", "minor", "patch"} {
		var err error
		if rest, err = semverNumber(rest, what); err != nil {
			return err
		}
		if i == 2 {
			break
		}
		if rest == "" {
			return fmt.Errorf("unexpected end of input while parsing %s version number", what)
		}
		if rest[0] != '.' {
			return fmt.Errorf("unexpected character '%c' after %s version number", []rune(rest)[0], what)
		}
		rest = rest[1:]
	}
	return semverTail(rest)
}

func semverNumber(s, what string) (string, error) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	switch {
	case n == 0 && s == "":
		return "", fmt.Errorf("unexpected end of input while parsing %s version number", what)
	case n == 0:
		return "", fmt.Errorf("unexpected character '%c' while parsing %s version number", []rune(s)[0], what)
	case n > 1 && s[0] == '0':
		return "", fmt.Errorf("invalid leading zero in %s version number", what)
	case n > 19:
		return "", fmt.Errorf("value of %s version number exceeds u64::MAX", what)
	}
	return s[n:], nil
}

// semverTail checks -prerelease and +build.
func semverTail(s string) error {
	if s == "" {
		return nil
	}
	build := ""
	hasBuild := false
	s, build, hasBuild = strings.Cut(s, "+")
	if s != "" {
		if s[0] != '-' {
			return fmt.Errorf("unexpected character '%c' after patch version number", []rune(s)[0])
		}
		if err := semverIdentifiers(s[1:], "pre-release identifier", true); err != nil {
			return err
		}
	}
	if hasBuild {
		return semverIdentifiers(build, "build metadata", false)
	}
	return nil
}

func semverIdentifiers(s, what string, numeric bool) error {
	for _, id := range strings.Split(s, ".") {
		if id == "" {
			return fmt.Errorf("empty identifier segment in %s", what)
		}
		digits := true
		for _, c := range id {
			if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-') {
				return fmt.Errorf("unexpected character '%c' in %s", c, what)
			}
			digits = digits && c >= '0' && c <= '9'
		}
		if numeric && digits && len(id) > 1 && id[0] == '0' {
			return fmt.Errorf("invalid leading zero in %s", what)
		}
	}
	return nil
}
