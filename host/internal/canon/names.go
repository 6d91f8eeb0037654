package canon

// Compatible tells whether two interface names stand for the same interface in
// versions that are compatible by semver: the same major version from 1.0.0 on,
// the same minor version below it, else the same version. Prereleases are
// compatible only with themselves.
func Compatible(a, b string) bool { panic("not yet") }

// Pick is the one of have that serves the interface want: the same name, else
// the highest compatible version. It is "" if none does.
func Pick(have []string, want string) string { panic("not yet") }
