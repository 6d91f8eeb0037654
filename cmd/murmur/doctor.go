package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/runtime"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what this host can give: containment of commands, and their supervision",
		Long: "Show what this host can give to the commands of capsules, for the user who asks: the mechanisms of\n" +
			"containment, each tried; what each class enforces with them, and what is to be done for more; and\n" +
			"whether commands can outlive the runtime.",
		Args: exactly(0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			return interruptible(c.Context(), func(ctx context.Context) error { return a.doctor(ctx, asJSON) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	return c
}

func (a *app) doctor(ctx context.Context, asJSON bool) error {
	d := runtime.Diagnose(ctx)
	if asJSON {
		out := json.NewEncoder(a.stdout)
		out.SetIndent("", "  ")
		return out.Encode(d)
	}
	fmt.Fprintf(a.stdout, "%s, user %d: containment up to class %s; a manifest that asks for no class gets %s\n\n",
		d.OS, d.UID, a.styleOut.good(d.Best), d.Default)
	a.showMechanisms(d.Mechanisms)
	fmt.Fprintln(a.stdout)
	a.showClasses(d.Classes)
	fmt.Fprintln(a.stdout)
	a.showSupervision(d.Supervision)
	return nil
}

// showMechanisms prints what was tried. What was not found is told with what to
// do about it, on lines of its own: it may be long.
func (a *app) showMechanisms(list []runtime.Mechanism) {
	fmt.Fprintf(a.stdout, "%-20s %-8s\n", "MECHANISM", "STATE")
	for _, m := range list {
		state, rest := a.styleOut.good(fmt.Sprintf("%-8s", "ok")), m.Detail
		if !m.OK {
			state, rest = a.styleOut.bad(fmt.Sprintf("%-8s", "missing")), m.Why
		}
		fmt.Fprintf(a.stdout, "%-20s %s %s\n", m.Name, state, oneLine(rest))
		if m.Remedy != "" {
			fmt.Fprintf(a.stdout, "%-20s %-8s to get it: %s\n", "", "", oneLine(m.Remedy))
		}
	}
}

// showClasses prints a column for each class, and below why a class is not
// available, or does not enforce a dimension.
func (a *app) showClasses(list []runtime.ClassDiagnosis) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	line := []string{"DIMENSION"}
	for _, c := range list {
		line = append(line, strings.ToUpper(c.Class))
	}
	fmt.Fprintln(w, strings.Join(line, "\t"))
	for _, d := range runtime.Dimensions() {
		line := []string{string(d)}
		for _, c := range list {
			by, _ := enforced(c.Receipt, d)
			line = append(line, by)
		}
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush()
	for _, c := range list {
		for _, note := range shortcomings(c) {
			fmt.Fprintln(a.stdout, a.styleOut.dim(c.Class+": "+oneLine(note)))
		}
	}
}

// shortcomings say why a class is not available, or what it does not enforce and
// why. Dimensions with one reason share a line.
func shortcomings(c runtime.ClassDiagnosis) []string {
	notes := slices.Clone(c.Missing)
	var reasons []string
	about := map[string][]string{}
	for _, d := range runtime.Dimensions() {
		if _, why := enforced(c.Receipt, d); why != "" {
			// What to do about it stands with the mechanism.
			why, _, _ = strings.Cut(why, "; to get it: ")
			if about[why] == nil {
				reasons = append(reasons, why)
			}
			about[why] = append(about[why], string(d))
		}
	}
	for _, why := range reasons {
		notes = append(notes, fmt.Sprintf("no %s: %s", strings.Join(about[why], ", "), why))
	}
	return notes
}

func (a *app) showSupervision(s runtime.Supervision) {
	if s.Works {
		fmt.Fprintln(a.stdout, "Commands outlive the runtime, under a supervisor of each session.")
	} else {
		fmt.Fprintf(a.stdout, "%s: %s\n", a.styleOut.odd("Commands do not outlive the runtime"), oneLine(s.Why))
	}
	switch {
	case s.Service == "":
	case s.Escapes:
		fmt.Fprintf(a.stdout, "This is the service %s: supervisors are moved out of it, so that stopping it leaves them running.\n", printable(s.Service))
	default:
		fmt.Fprintf(a.stdout, "This is the service %s, and %s: %s.\n", printable(s.Service),
			a.styleOut.bad("stopping it ends the supervisors and their commands too"), oneLine(s.Trapped))
	}
	if s.Remedy != "" {
		fmt.Fprintf(a.stdout, "To change that: %s.\n", oneLine(s.Remedy))
	}
}
