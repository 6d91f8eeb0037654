package canon

import (
	"cmp"
	"strconv"
	"strings"
)

// Compatible tells whether two interface names stand for the same interface in
// versions that are compatible by semver: the same major version from 1.0.0 on,
// the same minor version below it, else the same version. Prereleases are
// compatible only with themselves.
func Compatible(a, b string) bool {
	if a == b {
		return true
	}
	base, text, ok := strings.Cut(a, "@")
	if !ok || !strings.HasPrefix(b, base) || !strings.HasPrefix(b[len(base):], "@") {
		return false // which most names are, and is told without looking at versions
	}
	va, oka := parseVersion(text)
	vb, okb := parseVersion(b[len(base)+1:])
	return oka && okb && va.track() == vb.track()
}

// Pick is the one of have that serves the interface want: the same name, else
// the highest compatible version. It is "" if none does.
func Pick(have []string, want string) string {
	best := ""
	for _, name := range have {
		switch {
		case name == want:
			return name
		case !Compatible(name, want):
		case best == "" || newer(name, best):
			best = name
		}
	}
	return best
}

// SplitExport splits the name of a core function that a module exports for an
// interface, "iface@version#func". A name without an interface is not one.
func SplitExport(name string) (iface, function string, ok bool) {
	return strings.Cut(name, "#")
}

// PostReturn is the name of the function that a core module exports to be
// called after the one with this name.
func PostReturn(export string) string { return "cabi_post_" + export }

// A version is a semver without a prerelease.
type version [3]uint64

// track is the part of v that compatible versions share.
func (v version) track() version {
	switch {
	case v[0] != 0:
		return version{v[0], 0, 0}
	case v[1] != 0:
		return version{0, v[1], 0}
	default:
		return v
	}
}

// newer compares the versions of two names that have one.
func newer(a, b string) bool {
	va, vb := versionOf(a), versionOf(b)
	for i := range va {
		if c := cmp.Compare(va[i], vb[i]); c != 0 {
			return c > 0
		}
	}
	return false
}

func versionOf(name string) version {
	_, text, _ := strings.Cut(name, "@")
	v, _ := parseVersion(text)
	return v
}

// parseVersion reads "1.2.3". It is not ok for a prerelease, or for anything
// else.
func parseVersion(text string) (v version, ok bool) {
	text, _, _ = strings.Cut(text, "+")
	for i := range v {
		part, rest, more := strings.Cut(text, ".")
		n, err := strconv.ParseUint(part, 10, 64)
		if err != nil || more != (i < len(v)-1) {
			return version{}, false
		}
		v[i], text = n, rest
	}
	return v, true
}
