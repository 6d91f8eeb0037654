package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/runtime"
)

func (a *app) traceCommand() *cobra.Command {
	var stateDir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "trace [SESSION|DIR]",
		Short: "Show what happened in a session, the last one by default",
		Long: "Show what happened in a session: the last one, the one of that id (or of the end of its id),\n" +
			"or the one of that directory.",
		Args: between(0, 1, "at most one session or directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return usage("leave it out for the last one", "the session is empty")
			}
			path, err := tracePath(stateDir, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return a.showTrace(path, asJSON)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return sessionIDs(stateDir), cobra.ShellCompDirectiveDefault
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().BoolVar(&asJSON, "json", false, "print the events as they are, a line of JSON each")
	return c
}

func sessionIDs(stateDir string) (ids []string) {
	sessions, _ := runtime.Sessions(stateDir)
	for _, s := range sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// tracePath finds the trace that what names: a session, a session's directory, a
// state directory, or nothing, which is the last session.
func tracePath(stateDir, what string) (string, error) {
	if info, err := os.Stat(what); err == nil && what != "" {
		if !info.IsDir() {
			return what, nil
		}
		if path := (runtime.SessionInfo{Dir: what}).TracePath(); exists(path) {
			return path, nil
		}
		if !exists(filepath.Join(what, "sessions")) {
			return "", usage("", "there is no trace in %s", what)
		}
		stateDir, what = what, ""
	}
	sessions, err := runtime.Sessions(stateDir)
	if err != nil {
		return "", err
	}
	return traceOf(sessions, stateDir, what)
}

func traceOf(sessions []runtime.SessionInfo, stateDir, what string) (string, error) {
	var found []runtime.SessionInfo
	for _, s := range sessions {
		if what == "" || means(what, s.ID) {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 0 && what == "":
		return "", usage("", "there is no session in %s", stateDir)
	case len(found) == 0:
		return "", usage("", "there is no session %q in %s, and no such directory", what, stateDir)
	case len(found) > 1 && what != "":
		return "", usage("give more of its id", "%q stands for %d sessions", what, len(found))
	}
	return found[len(found)-1].TracePath(), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// showTrace prints a trace, and says which of its lines it could not read.
func (a *app) showTrace(path string, asJSON bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the trace: %w", err)
	}
	defer file.Close()
	line := &timeline{w: a.stdout, style: a.styleOut}
	for l := range runtime.TraceLines(file) {
		switch {
		case errors.Is(l.Err, runtime.ErrTornLine):
			// A crash leaves it behind; what came before is whole.
		case l.Err != nil:
			a.warn("%s: line %d: %v", path, l.Number, l.Err)
		case asJSON:
			if _, err := fmt.Fprintf(a.stdout, "%s\n", jsonText(string(l.Raw))); err != nil {
				return err
			}
		default:
			line.show(l.Event)
		}
	}
	return nil
}
