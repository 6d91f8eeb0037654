package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/wit"
)

func (a *app) witCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "wit [DIR]",
		Short: "Print what a guest imports and exports, in WIT, or write it to a folder",
		Long: "Print the WIT packages that a guest is written against, as one file; or write them to a folder,\n" +
			"laid out as tools for WIT expect them.",
		Args: between(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := strings.Join(args, "")
			if dir != "" {
				return wit.WriteTo(dir)
			}
			_, err := io.WriteString(a.stdout, wit.Text())
			return err
		},
	}
}
