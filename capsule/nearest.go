package capsule

import "strings"

// unknownKey says that a key is not known, and which known one is probably
// meant: one of the same section with a similar name, or one with this name in
// another section.
func unknownKey(path, key string, fields []field) *Error {
	if near := nearest(key, fields); near != "" {
		return wrong(path, "unknown key, the nearest known one is %s", near)
	}
	if home := keyHome("", key, manifestFields(&Manifest{})); home != "" {
		return wrong(path, "unknown key here, it belongs to %s", home)
	}
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return wrong(path, "unknown key, known ones are %s", strings.Join(keys, ", "))
}

// nearest returns the key that takes the fewest edits to reach, if these are
// no more than a third of it.
func nearest(key string, fields []field) string {
	best, bestDistance := "", len(key)
	for _, f := range fields {
		d := distance(key, f.key)
		if d < bestDistance && d <= max(1, len(f.key)/3) {
			best, bestDistance = f.key, d
		}
	}
	return best
}

// keyHome returns the section that has the key, as "capabilities.shell".
func keyHome(path, key string, fields []field) string {
	for _, f := range fields {
		if f.key == key && path != "" {
			return path
		}
		if home := keyHome(join(path, f.key), key, f.sub); home != "" {
			return home
		}
	}
	return ""
}

// distance is the Levenshtein distance, of at most the first 64 bytes of each.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
