package component

import (
	"fmt"
	"strings"
)

// nameKind tells the forms of import and export names apart.
type nameKind uint8

const (
	namePlain nameKind = iota
	nameConstructor
	nameMethod
	nameStatic
	nameInterface
)

// parsedName is an import or export name taken apart (Explainer.md, import
// and export definitions).
type parsedName struct {
	kind     nameKind
	resource string // of constructors, methods, statics
	label    string // of plain names and members
	iface    string // of interfaces: ns:pkg/iface without the version
	version  string // of interfaces, may be empty
}

// parseExternName checks the grammar of an import or export name.
func parseExternName(n externName) (parsedName, error) {
	suffix := n.versionSuffix
	if n.implements != nil { // the suffix belongs to the interface that is named there
		suffix = nil
	}
	p, err := parseName(n.name, suffix)
	if err != nil {
		return p, fmt.Errorf("`%s` is not a valid extern name: %w", n.name, err)
	}
	if n.implements == nil {
		return p, nil
	}
	return p, checkImplements(n, p)
}

func checkImplements(n externName, p parsedName) error {
	target, err := parseName(*n.implements, n.versionSuffix)
	if err != nil {
		return fmt.Errorf("`%s` is not a valid name: %w", *n.implements, err)
	}
	if target.kind != nameInterface {
		return fmt.Errorf("`implements` value `%s` must be an interface", *n.implements)
	}
	if p.kind != namePlain {
		return fmt.Errorf("name `%s` is not valid with `implements`", n.name)
	}
	return nil
}

func parseName(s string, suffix *string) (parsedName, error) {
	for prefix, k := range map[string]nameKind{"[constructor]": nameConstructor, "[method]": nameMethod, "[static]": nameStatic} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return parseMember(rest, k)
		}
	}
	for _, form := range []string{"unlocked-dep=", "locked-dep=", "url=", "integrity="} {
		if strings.HasPrefix(s, form) {
			return parsedName{}, fmt.Errorf("it names a component that is not in the file; compose the component with what it depends on")
		}
	}
	if strings.Contains(s, ":") {
		return parseInterface(s, suffix)
	}
	if suffix != nil {
		return parsedName{}, fmt.Errorf("only interface names can have a `versionsuffix`")
	}
	return parsedName{kind: namePlain, label: s}, checkKebab(s)
}

func parseMember(s string, k nameKind) (parsedName, error) {
	if k == nameConstructor {
		return parsedName{kind: k, resource: s}, checkKebab(s)
	}
	resource, label, ok := strings.Cut(s, ".")
	if !ok {
		return parsedName{}, fmt.Errorf("failed to find `.` character")
	}
	if err := checkKebab(resource); err != nil {
		return parsedName{}, err
	}
	return parsedName{kind: k, resource: resource, label: label}, checkKebab(label)
}

// parseInterface reads ns:pkg/iface@version.
func parseInterface(s string, suffix *string) (parsedName, error) {
	ns, rest, _ := strings.Cut(s, ":")
	if err := checkLowerKebab(ns); err != nil {
		return parsedName{}, err
	}
	end := strings.IndexAny(rest, ":/@")
	if end < 0 {
		end = len(rest)
	}
	if err := checkLowerKebab(rest[:end]); err != nil {
		return parsedName{}, err
	}
	if end == len(rest) || rest[end] != '/' {
		return parsedName{}, fmt.Errorf("expected `/` after package name")
	}
	iface, version, versioned := strings.Cut(rest[end+1:], "@")
	if i := strings.IndexAny(iface, "/:"); i >= 0 {
		return parsedName{}, fmt.Errorf("trailing characters found: `%s`", rest[end+1+i:])
	}
	if err := checkKebab(iface); err != nil {
		return parsedName{}, err
	}
	p := parsedName{kind: nameInterface, iface: ns + ":" + rest[:end+1] + iface, version: version}
	return p, checkInterfaceVersion(version, versioned, suffix)
}

func checkInterfaceVersion(version string, versioned bool, suffix *string) error {
	switch {
	case suffix != nil && !versioned:
		return fmt.Errorf("`versionsuffix` needs an interface version")
	case suffix != nil:
		version += *suffix
	case !versioned:
		return nil
	}
	if err := checkSemver(version); err != nil {
		return fmt.Errorf("`%s` is not a valid semver: %w", version, err)
	}
	return nil
}

// checkKebab checks words joined by hyphens; a word is all lower or all upper
// case and only the first must start with a letter.
func checkKebab(s string) error {
	for i, word := range strings.Split(s, "-") {
		if !kebabWord(word, i == 0) {
			return fmt.Errorf("`%s` is not in kebab case", s)
		}
	}
	return nil
}

func checkLowerKebab(s string) error {
	if s != strings.ToLower(s) {
		return fmt.Errorf("`%s` is not in kebab case", s)
	}
	return checkKebab(s)
}

func kebabWord(w string, first bool) bool {
	var lower, upper bool
	for i := range len(w) {
		switch c := w[i]; {
		case 'a' <= c && c <= 'z':
			lower = true
		case 'A' <= c && c <= 'Z':
			upper = true
		case '0' <= c && c <= '9':
			if first && i == 0 {
				return false
			}
		default:
			return false
		}
	}
	return w != "" && !(lower && upper)
}

// uniqueKey gives the form under which names must differ (Explainer.md, name
// uniqueness).
func (p parsedName) uniqueKey(name string) string {
	if p.kind != nameMethod && p.kind != nameStatic {
		return strings.ToLower(name)
	}
	resource, label := strings.ToLower(p.resource), strings.ToLower(p.label)
	if resource == label {
		return resource
	}
	return resource + "." + label
}
