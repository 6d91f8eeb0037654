package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
)

func (a *app) checkCommand() *cobra.Command {
	var flags manifestFlags
	c := &cobra.Command{
		Use:   "check PATH",
		Short: "Check a capsule's manifest, and its guest against the WIT",
		Long: "Check a capsule without running it: its manifest, how its guest takes tasks, and whether what the\n" +
			"guest imports and exports has the shape that the WIT gives it. What is wrong is told, a line each.\n" +
			"Of a component the imports and exports are shown as WIT, with what serves them.",
		Args: exactly(1, "the PATH of a capsule"),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := flags.load(args[0], c.Flags())
			if err != nil {
				return err
			}
			return interruptible(c.Context(), func(ctx context.Context) error { return a.check(ctx, m) })
		},
	}
	flags.register(c.Flags())
	return c
}

func (a *app) check(ctx context.Context, m *capsule.Manifest) error {
	if err := m.Validate(); err != nil {
		return err
	}
	for _, w := range m.Warnings() {
		a.warn("%s", w)
	}
	rt, done, err := a.scratchRuntime()
	if err != nil {
		return err
	}
	for _, l := range rt.Lacking(m) {
		a.warn("%s", l)
	}
	guest, err := rt.Inspect(ctx, m)
	if err == nil {
		err = errors.Join(a.checkGuest(m, guest, rt.Services(guest)), guest.Close(ctx))
	}
	return errors.Join(err, done())
}

func (a *app) checkGuest(m *capsule.Manifest, guest *host.Guest, services []host.Service) error {
	way, err := guest.Way()
	found := compare(way, guest.Imports())
	if guest.IsComponent() {
		found = compareComponent(way, guest.Imports(), services)
	}
	if err != nil {
		found = append(found, finding{wrong, err.Error()})
	}
	bad := int64(0)
	for _, f := range found {
		mark := a.styleErr.odd("note:")
		if f.severity == wrong {
			mark = a.styleErr.bad("wrong:")
			bad++
		}
		fmt.Fprintf(a.stderr, "murmur: %s %s\n", mark, oneLine(f.text))
	}
	if bad > 0 {
		return usage("murmur wit prints what a guest may import, and what it exports", "the guest of %s does not fit the WIT: %s", m.Name, count(bad, "problem"))
	}
	fmt.Fprintf(a.stdout, "%s %s: %s\n", m.Name, m.Version, wayText(way))
	imports, exports := guest.WIT()
	p := witPrinter{w: a.stdout, indent: "  ", note: servedBy(services)}
	p.all("import", imports)
	p.note = nil
	p.all("export", exports)
	return nil
}

// servedBy says behind an import what serves it.
func servedBy(services []host.Service) func(name string) string {
	return func(name string) string {
		for _, s := range services {
			switch {
			case s.Import != name:
			case s.By != "":
				return "served by " + s.By
			default:
				return "served by nothing"
			}
		}
		return ""
	}
}

func wayText(w host.Way) string {
	switch w {
	case host.Handler:
		return "a handler, called for each task"
	case host.Looper:
		return "a looper, which takes its tasks from the queue"
	case host.Command:
		return "a plain command, run once for each task"
	}
	return w.String()
}
