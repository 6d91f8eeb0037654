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
	na, va, oka := splitVersion(a)
	nb, vb, okb := splitVersion(b)
	return oka && okb && na == nb && va.track() == vb.track()
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

func newer(a, b string) bool {
	_, va, _ := splitVersion(a)
	_, vb, _ := splitVersion(b)
	for i := range va {
		if c := cmp.Compare(va[i], vb[i]); c != 0 {
			return c > 0
		}
	}
	return false
}

// splitVersion splits "ns:pkg/iface@1.2.3". It is not ok for a name without a
// version, with a prerelease, or with anything else after the at-sign.
func splitVersion(name string) (base string, v version, ok bool) {
	base, text, ok := strings.Cut(name, "@")
	if !ok {
		return "", v, false
	}
	text, _, _ = strings.Cut(text, "+")
	parts := strings.Split(text, ".")
	if len(parts) != len(v) {
		return "", v, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 64)
		if err != nil {
			return "", v, false
		}
		v[i] = n
	}
	return base, v, true
}
