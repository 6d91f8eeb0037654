package host

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/murmur-capsule/murmur/host/internal/canon"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// A Way is how a guest takes its work.
type Way uint8

const (
	// Handler: the guest exports murmur:task/handler and is called once a task.
	Handler Way = iota + 1
	// Looper: the guest exports murmur:capsule/run and takes tasks from
	// murmur:task/queue, which it imports.
	Looper
	// Command: the guest is a plain WASI command, and each task is one run of
	// it.
	Command
)

// String is the way's name in messages.
func (w Way) String() string {
	if int(w) < len(ways) {
		return ways[w].name
	}
	return "unknown"
}

// A wayExport is the export by which a way is known.
type wayExport struct {
	name  string
	iface string // "" for a name outside of WIT
	fn    string
	typ   *canon.FuncType
	// memory says that values travel through the guest's memory.
	memory bool
}

func (w wayExport) String() string {
	return joinExport(w.iface, w.fn)
}

var ways = [...]wayExport{
	{name: "none"},
	Handler: {name: "handler", iface: "murmur:task/handler@0.1.0", fn: "handle", typ: handleFunc.Type(), memory: true},
	Looper:  {name: "looper", iface: "murmur:capsule/run@0.1.0", fn: "run", typ: loopFunc.Type()},
	Command: {name: "command", fn: "_start", typ: loopFunc.Type()},
}

// componentCommand is by what a component is a command.
var componentCommand = wayExport{name: "command", iface: "wasi:cli/run@0.2.0", fn: "run", typ: commandFunc.Type()}

// way is the export by which the guest has a way, if it has it.
func (g *Guest) way(w Way) wayExport {
	if w == Command && g.code.component != nil {
		return componentCommand
	}
	return ways[w]
}

// export is the name by which the guest has this way, or "".
func (w wayExport) export(g *Guest) string {
	return g.findExport(w.iface, w.fn)
}

// findExport is the name of the guest's export of a WIT function, along semver,
// or "".
func (g *Guest) findExport(iface, fn string) string {
	if iface == "" {
		if g.hasExport(fn) {
			return fn
		}
		return ""
	}
	var have []string
	for _, name := range g.order {
		if i, f, ok := strings.Cut(name, "#"); ok && f == fn {
			have = append(have, i)
		}
	}
	if best := canon.Pick(have, iface); best != "" {
		return joinExport(best, fn)
	}
	return ""
}

// joinExport is the name of a function that is exported for an interface, and
// splitExport takes it apart. A function of no interface has its name alone.
func joinExport(iface, fn string) string {
	if iface == "" {
		return fn
	}
	return iface + "#" + fn
}

func splitExport(name string) (iface, fn string) {
	if iface, fn, ok := strings.Cut(name, "#"); ok {
		return iface, fn
	}
	return "", name
}

// Way tells how the guest takes its work, by what it exports. The error says
// what is there and what is missing, or which export has another shape than it
// should.
func (g *Guest) Way() (Way, error) {
	var found []Way
	for w := Handler; w <= Command; w++ {
		if g.way(w).export(g) != "" {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return 0, g.noWay()
	case 1:
		return found[0], g.checkWay(g.way(found[0]))
	}
	more := g.way(found[1]).export(g)
	cure := ""
	if more == "_start" {
		cure = "; build it as a reactor, without _start (in Go: -buildmode=c-shared)"
	}
	return 0, fmt.Errorf("the guest takes its work in more than one way: it exports %s and %s%s", g.way(found[0]).export(g), more, cure)
}

// A wayFound is what looking for a way has found, once for all its calls.
type wayFound struct {
	once sync.Once
	name string
	err  error
}

// wayExport is the export by which the guest has a way. The error says that there
// is none, or in which shape it is not.
func (g *Guest) wayExport(w Way) (string, error) {
	f := &g.found[w]
	f.once.Do(func() {
		if f.name = g.way(w).export(g); f.name == "" {
			f.err = fmt.Errorf("guest %s is no %s: it does not export %s", g.name, w, g.way(w))
			return
		}
		f.err = g.checkWay(g.way(w))
	})
	return f.name, f.err
}

// noWay says what a guest exports that none of the ways knows.
func (g *Guest) noWay() error {
	has := "nothing"
	if len(g.order) > 0 {
		has = list(g.order)
	}
	return fmt.Errorf("the guest takes no work: it exports none of %s, %s and %s; it exports %s",
		g.way(Handler), g.way(Looper), g.way(Command), has)
}

// checkWay looks at the shapes of what a way needs.
func (g *Guest) checkWay(w wayExport) error {
	name := w.export(g)
	errs := []error{g.checkExport(name, w.typ)}
	if w.memory && g.code.component == nil {
		errs = append(errs, g.checkMemory(name))
	}
	return errors.Join(errs...)
}

// checkExport compares an export with the type that it should have. In a core
// module what is left of a WIT type is looked at.
func (g *Guest) checkExport(name string, want *canon.FuncType) error {
	if c := g.code.component; c != nil {
		iface, fn := splitExport(name)
		return c.CheckExport(iface, fn, want)
	}
	return g.checkCore(name, coreType(want.Lift()))
}

func (g *Guest) checkCore(name string, want precheck.FuncType) error {
	if have := g.exports[name].typ; !have.Equal(want) {
		return fmt.Errorf("the export %s has the type %s, and should have %s", name, have, want)
	}
	return nil
}

const reallocExport = "cabi_realloc"

var reallocType = precheck.FuncType{
	Params:  []precheck.ValueType{precheck.I32, precheck.I32, precheck.I32, precheck.I32},
	Results: []precheck.ValueType{precheck.I32},
}

// checkMemory looks for what values in memory need.
func (g *Guest) checkMemory(name string) error {
	if !g.hasMemory {
		return fmt.Errorf("the guest exports %s, but has no memory", name)
	}
	if _, ok := g.exports[reallocExport]; !ok {
		return fmt.Errorf("the guest exports %s, but no %s, by which it is given strings", name, reallocExport)
	}
	return g.checkCore(reallocExport, reallocType)
}
