package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "murmur",
		Short: "Run capsules: WebAssembly guests that ask for shell commands",
		Long: "murmur runs capsules: WebAssembly guests that ask for shell commands.\n\n" +
			"A command that takes long does not hold up its guest: it goes on in the background,\n" +
			"and its end comes back to the guest as a task.",
		Version:       version(),
		SilenceErrors: true, SilenceUsage: true, DisableSuggestions: true,
		Args:              knownCommand,
		PersistentPreRunE: nothingEmpty,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate("murmur {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		hint := "see " + c.CommandPath() + " --help"
		if says("missing unit in duration")(err) || says("invalid duration")(err) {
			hint = "a duration has a unit: 500ms, 10s, 5m, 1h"
		}
		return usage(hint, "%v", err)
	})
	root.AddCommand(a.runCommand(), a.checkCommand(), a.inspectCommand(), a.compileCommand(), a.traceCommand(), a.testCommand(), a.witCommand(), a.doctorCommand(),
		a.psCommand(), a.logsCommand(), a.stopCommand(), a.sessionsCommand(), a.sendCommand(), a.gcCommand())
	return root
}

// knownCommand refuses what is no command, with the nearest one as a hint.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see murmur --help"
	// Cobra suggests by distance only where a distance is set.
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean murmur " + strings.Join(near, " or murmur ") + "?"
	}
	return usage(hint, "there is no command %q", args[0])
}

// nothingEmpty refuses flags that were given no value: a script's variable that
// is not set must not choose some other session or directory.
func nothingEmpty(c *cobra.Command, _ []string) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" {
			err = usage("give it a value, or leave it out", "--%s is empty", f.Name)
		}
	})
	return err
}

// exactly wants n arguments, which are called what.
func exactly(n int, what string) cobra.PositionalArgs {
	return between(n, n, what)
}

func between(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= least && len(args) <= most {
			return nil
		}
		problem := "too many arguments"
		if len(args) < least {
			problem = "an argument is missing"
		}
		return usage("see "+c.CommandPath()+" --help", "%s: %s wants %s", problem, c.CommandPath(), what)
	}
}

// version is that of the build: a tag, or the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "0.0.0-dev+" + s.Value[:12]
		}
	}
	return "0.0.0-dev"
}

// hintFor says what to do about errors whose cure is known.
func hintFor(err error) string {
	for _, h := range hints {
		if h.when(err) {
			return h.hint
		}
	}
	return ""
}

func because(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func says(text string) func(error) bool {
	return func(err error) bool { return strings.Contains(fmt.Sprint(err), text) }
}
