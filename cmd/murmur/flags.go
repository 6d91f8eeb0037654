package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/murmur-capsule/murmur/runtime"
)

func stateDirFlag(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "state-dir", runtime.DefaultStateDir(), "where sessions are kept")
}

// completions are the values that a shell offers for a flag.
func completions(c *cobra.Command, flag string, values ...string) {
	err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("internal error: " + err.Error())
	}
}
