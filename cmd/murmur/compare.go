package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/wit"
)

// wasiPreview1 is the module of WASI's imports in core modules. Those that it
// does not have are refused before a guest is compared with anything.
const wasiPreview1 = "wasi_snapshot_preview1"

// shapes are the functions that the runtime serves to core modules, with the
// core type that the canonical ABI gives to their WIT type (CanonicalABI.md,
// "Flattening").
var shapes = map[string]map[string]string{
	wit.ToolRun: {
		"run": "(i32, i32, i32, i32, i32, i32, i32) -> ()",
	},
	wit.TaskQueue: {
		"next":   "(i32) -> ()",
		"settle": "(i32, i32, i32) -> ()",
	},
}

// A finding is what the comparison of a guest with the WIT brought up.
type finding struct {
	severity severity
	text     string
}

type severity uint8

const (
	odd   severity = iota // it can run all the same
	wrong                 // it cannot
)

// compare looks at what a guest imports: what has another shape than the WIT
// gives it, what nobody serves, and what is missing.
func compare(way host.Way, imports []host.FuncInfo) (found []finding) {
	for _, imp := range imports {
		if f, ok := compareImport(imp); ok {
			found = append(found, f)
		}
	}
	if way == host.Looper {
		found = append(found, missing(imports, wit.TaskQueue)...)
	}
	return found
}

// compareComponent is compare for a component: services tell what the runtime has
// for its imports.
func compareComponent(way host.Way, imports []host.FuncInfo, services []host.Service) (found []finding) {
	for _, s := range services {
		has := func(imp host.FuncInfo) bool {
			return imp.Module == s.Import || imp.Module == "" && imp.Name == s.Import
		}
		switch {
		case s.Err != nil:
			found = append(found, finding{wrong, fmt.Sprintf("the import %s: %v", s.Import, s.Err)})
		case s.By == "" && slices.ContainsFunc(imports, has):
			found = append(found, finding{odd, fmt.Sprintf("extra import %s: nothing serves it, and a guest that calls it traps", s.Import)})
		}
		for _, name := range s.Missing {
			found = append(found, finding{odd, fmt.Sprintf("extra import %s#%s: %s has no such function, and a guest that calls it traps", s.Import, name, s.By)})
		}
	}
	if way == host.Looper {
		found = append(found, missing(imports, wit.TaskQueue)...)
	}
	return found
}

// compareImport says what is to be said about one import, if anything.
func compareImport(imp host.FuncInfo) (f finding, ok bool) {
	if imp.Module == wasiPreview1 {
		return f, false
	}
	served := serving(imp.Module)
	want, known := shapes[served][imp.Name]
	switch {
	case served == "" && isInterface(imp.Module):
		return finding{odd, fmt.Sprintf("extra import %s: nothing serves it, and a guest that calls it traps", imp)}, true
	case served == "":
		return finding{wrong, fmt.Sprintf("extra import %s: nothing serves it", imp)}, true
	case !known:
		return finding{wrong, fmt.Sprintf("extra import %s: %s has no such function", imp, served)}, true
	case imp.Signature != want:
		return finding{wrong, fmt.Sprintf("the import %s is of another shape: it has %s, the WIT has %s", imp, imp.Signature, want)}, true
	}
	return f, false
}

// missing are the functions of an interface that a guest does not import.
func missing(imports []host.FuncInfo, iface string) (found []finding) {
	for name := range shapes[iface] {
		has := func(imp host.FuncInfo) bool { return serving(imp.Module) == iface && imp.Name == name }
		if !slices.ContainsFunc(imports, has) {
			found = append(found, finding{wrong, fmt.Sprintf("missing import %s#%s: a looper cannot do without it", iface, name)})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.text, b.text) })
	return found
}

// serving is the interface that serves an import: that of the same name and a
// compatible version. Below 1.0.0 the patch alone may differ.
func serving(module string) string {
	name, version, _ := strings.Cut(module, "@")
	for iface := range shapes {
		served, ours, _ := strings.Cut(iface, "@")
		if name == served && (version == ours || minor(version) == minor(ours)) {
			return iface
		}
	}
	return ""
}

// minor is a version without its patch.
func minor(version string) string { return version[:max(0, strings.LastIndexByte(version, '.'))] }

// isInterface says whether a module's name is that of a WIT interface.
func isInterface(module string) bool {
	pkg, iface, ok := strings.Cut(module, "/")
	return ok && strings.Contains(pkg, ":") && iface != ""
}
