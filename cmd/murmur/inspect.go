package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime"
)

func (a *app) inspectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what is in a guest's file: a component or a core module",
		Long: "Show the inside of a component or a core module: the modules within it, its imports and exports,\n" +
			"and the tools that made it. Nothing is compiled and nothing runs.",
		Args: exactly(1, "a FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			wasm, err := runtime.ReadGuest(args[0])
			if err != nil {
				return fmt.Errorf("cannot read %s: %w", args[0], err)
			}
			info, err := host.Inspect(wasm)
			if err != nil {
				return fmt.Errorf("cannot read %s: %w", args[0], err)
			}
			show(a.stdout, info)
			return nil
		},
	}
}

func show(w io.Writer, info *host.FileInfo) {
	if info.Component != nil {
		showComponent(w, "", "component", info.Component)
		return
	}
	m := &info.Module
	fmt.Fprintf(w, "core module, %s: %s, %s, %s\n", size(int64(m.Size)), count(int64(info.Functions), "function"),
		count(int64(m.Imports), "import"), count(int64(m.Exports), "export"))
	showProducers(w, "  ", m.Producers)
	for _, f := range info.Imports {
		fmt.Fprintf(w, "  import %s: %s\n", printable(f.String()), f.Signature)
	}
	for _, f := range info.Exports {
		fmt.Fprintf(w, "  export %s: %s\n", printable(f.Name), f.Signature)
	}
}

func showComponent(w io.Writer, indent, what string, c *host.ComponentInfo) {
	fmt.Fprintf(w, "%s%s, %s: %s, %s, %s, %s\n", indent, what, size(int64(c.Size)),
		count(int64(len(c.Modules)), "core module"), count(int64(c.CoreInstances), "core instance"),
		count(int64(len(c.Components)), "component"), count(int64(c.Instances), "instance"))
	indent += "  "
	showProducers(w, indent, c.Producers)
	for n, m := range c.Modules {
		fmt.Fprintf(w, "%score module %d at %#x, %s: %s, %s\n", indent, n, m.Offset, size(int64(m.Size)),
			count(int64(m.Imports), "import"), count(int64(m.Exports), "export"))
		showProducers(w, indent+"  ", m.Producers)
	}
	for n := range c.Components {
		showComponent(w, indent, fmt.Sprintf("component %d at %#x", n, c.Components[n].Offset), &c.Components[n])
	}
	for _, s := range c.Customs {
		fmt.Fprintf(w, "%scustom section %q, %s\n", indent, s.Name, size(int64(len(s.Data))))
	}
	p := witPrinter{w: w, indent: indent}
	p.all("import", c.Imports)
	p.all("export", c.Exports)
}

func showProducers(w io.Writer, indent string, producers []host.Producer) {
	for _, p := range producers {
		fmt.Fprintf(w, "%s%s\n", indent, printable(strings.TrimSpace(p.Field+": "+p.Name+" "+p.Version)))
	}
}
