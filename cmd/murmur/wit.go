package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/wit"
)

func (a *app) witCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "wit [DIR]",
		Short: "Print the WIT that guests are written against, or write it to a folder",
		Long: "Print the WIT packages that a guest is written against, as one file; or write them to a folder,\n" +
			"laid out as tools for WIT expect them.",
		Args: between(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := strings.Join(args, "")
			if dir != "" {
				return a.writeWIT(dir)
			}
			_, err := io.WriteString(a.stdout, wit.Text())
			return err
		},
	}
}

// writeWIT writes the packages to a folder of their own. Who names a guest or its
// folder means something else.
func (a *app) writeWIT(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		_, err = os.Stat(filepath.Join(dir, capsule.FileName))
	}
	if err == nil {
		return usage("murmur check shows what a guest imports and exports; name a folder of its own for the WIT, such as wit",
			"cannot write the WIT to %s: it is a capsule, or no folder", dir)
	}
	if err := wit.WriteTo(dir); err != nil {
		return err
	}
	fmt.Fprintf(a.stderr, "murmur: wrote the WIT to %s\n", printable(dir))
	return nil
}
