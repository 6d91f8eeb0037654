package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/runtime"
)

// watchPeriod is how often ps --watch draws its table anew.
const watchPeriod = time.Second

func (a *app) psCommand() *cobra.Command {
	var stateDir string
	var all, asJSON, watch bool
	c := &cobra.Command{
		Use:   "ps",
		Short: "List the commands of all sessions: those that run, and those whose result is owed",
		Args:  exactly(0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			if !watch {
				return a.ps(c.Context(), stateDir, all, asJSON)
			}
			return a.watchJobs(c.Context(), stateDir, all, asJSON)
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().BoolVarP(&all, "all", "a", false, "list those too whose result was taken")
	c.Flags().BoolVar(&asJSON, "json", false, "print each command as a line of JSON")
	c.Flags().BoolVarP(&watch, "watch", "w", false, "go on, once a second, until Ctrl-C")
	return c
}

func (a *app) watchJobs(ctx context.Context, stateDir string, all, asJSON bool) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	for {
		if a.styleOut.terminal && !asJSON {
			fmt.Fprint(a.stdout, "\x1b[H\x1b[2J")
		}
		if err := a.ps(ctx, stateDir, all, asJSON); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (a *app) ps(ctx context.Context, stateDir string, all, asJSON bool) error {
	found, err := a.listJobs(ctx, stateDir)
	if err != nil {
		return err
	}
	if !all {
		found = slices.DeleteFunc(found, func(j *runtime.Job) bool { return j.Delivery == "taken" && j.Ended() })
	}
	if asJSON {
		return a.printJSON(found)
	}
	if len(found) == 0 {
		fmt.Fprintf(a.stderr, "no command runs, and no result is owed, in %s\n", stateDir)
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tAGE\tOUTPUT\tCAPSULE\tSESSION\tCOMMAND")
	for _, j := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", j.ID, jobState(j), roughly(j.Running), size(j.OutputBytes),
			printable(j.Capsule), short(j.Session), shorten(printable(j.Command), 60))
	}
	return w.Flush()
}

func (a *app) printJSON(found []*runtime.Job) error {
	for _, j := range found {
		if err := encodeLine(a.stdout, j); err != nil {
			return err
		}
	}
	return nil
}

// listJobs lists the commands; what could not be read is told, and hides nothing.
func (a *app) listJobs(ctx context.Context, stateDir string) ([]*runtime.Job, error) {
	found, problems, err := runtime.Jobs(ctx, stateDir)
	a.warnAll(problems)
	return found, err
}

func (a *app) warnAll(problems []error) {
	for _, p := range problems {
		a.warn("%v", p)
	}
}

// jobState says how a command stands, in few words.
func jobState(j *runtime.Job) string {
	state := j.State
	switch {
	case j.Reason != "":
		state += " (" + j.Reason + ")"
	case j.ExitCode != nil && *j.ExitCode != 0:
		state += fmt.Sprintf(" (exit %d)", *j.ExitCode)
	}
	if len(j.LeftRunning) > 0 {
		state += ", left running: " + printable(strings.Join(j.LeftRunning, ", "))
	}
	if j.Delivery != "" && j.Delivery != "taken" {
		state += ", " + j.Delivery
	}
	return state
}

func (a *app) logsCommand() *cobra.Command {
	var stateDir string
	var follow bool
	c := &cobra.Command{
		Use:   "logs COMMAND",
		Short: "Show how a command stands and what it wrote",
		Long: "Show how a command stands, or why it ended, and the head and the tail of what it wrote.\n" +
			"COMMAND is the id that ps lists, or enough of its beginning or end, or as a timeline shows it.",
		Args: exactly(1, "one command"),
		RunE: func(c *cobra.Command, args []string) error {
			j, err := a.oneJob(c.Context(), stateDir, args[0])
			if err != nil {
				return err
			}
			if follow {
				return a.follow(c.Context(), j)
			}
			_, err = fmt.Fprintln(a.stdout, strings.TrimRight(j.Text(), "\n"))
			return err
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "print what it writes until it ends, or Ctrl-C")
	return c
}

// means says whether a person who writes what can mean the id: by its beginning,
// by its end, or as timelines and tables show it.
func means(what, id string) bool {
	return strings.HasPrefix(id, what) || strings.HasSuffix(id, what) || what == short(id)
}

// oneJob finds the one command that a person means.
func (a *app) oneJob(ctx context.Context, stateDir, what string) (*runtime.Job, error) {
	found, err := a.listJobs(ctx, stateDir)
	if err != nil {
		return nil, err
	}
	matching := slices.DeleteFunc(found, func(j *runtime.Job) bool {
		return !means(what, j.ID)
	})
	switch {
	case strings.HasPrefix(what, "ses_"):
		return nil, usage("that is a session: murmur ps lists the commands, murmur stop --session ends those of one", "there is no command %q in %s", what, stateDir)
	case what == "" || len(matching) == 0:
		return nil, usage("see murmur ps --all", "there is no command %q in %s", what, stateDir)
	case len(matching) > 1:
		return nil, usage("write more of its id", "%q could be %d commands: %s, %s …", what, len(matching), matching[0].ID, matching[1].ID)
	}
	return matching[0], nil
}

func (a *app) stopCommand() *cobra.Command {
	var stateDir, session string
	var all bool
	c := &cobra.Command{
		Use:   "stop [COMMAND]",
		Short: "End a command, a session's commands, or all",
		Long: "End a command and everything it started: TERM, two seconds, KILL. The guest that was promised\n" +
			"a result is told that it was killed. What cannot be proven dead is named.",
		Args: between(0, 1, "one command, --session or --all"),
		RunE: func(c *cobra.Command, args []string) error {
			targets, err := a.targets(c.Context(), stateDir, session, all, args)
			if err != nil {
				return err
			}
			return a.stopAll(c.Context(), targets)
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().StringVar(&session, "session", "", "end every command of this session")
	c.Flags().BoolVar(&all, "all", false, "end every command of every session")
	return c
}

// targets are the commands that a stop means: exactly one way of saying so.
func (a *app) targets(ctx context.Context, stateDir, session string, all bool, args []string) ([]*runtime.Job, error) {
	ways := len(args)
	for _, given := range []bool{session != "", all} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return nil, usage("see murmur stop --help", "say what is to be stopped: a command, --session or --all")
	}
	if len(args) == 1 {
		j, err := a.oneJob(ctx, stateDir, args[0])
		return []*runtime.Job{j}, err
	}
	if session != "" {
		info, err := oneSession(stateDir, session)
		if err != nil {
			return nil, err
		}
		session = info.ID
	}
	found, err := a.listJobs(ctx, stateDir)
	return slices.DeleteFunc(found, func(j *runtime.Job) bool {
		return j.Ended() || session != "" && j.Session != session
	}), err
}

func (a *app) stopAll(ctx context.Context, targets []*runtime.Job) error {
	if len(targets) == 0 {
		fmt.Fprintln(a.stderr, "no command runs")
		return nil
	}
	failed := false
	for _, j := range targets {
		was := j.Ended()
		now, err := j.Stop(ctx)
		switch {
		case err != nil:
			failed = true
			a.report(asFailure(err))
		case was:
			fmt.Fprintf(a.stdout, "%s had ended: %s\n", j.ID, jobState(now))
		default:
			fmt.Fprintf(a.stdout, "%s stopped\n", j.ID)
		}
	}
	if failed {
		return &failure{code: exitFailed}
	}
	return nil
}

func (a *app) gcCommand() *cobra.Command {
	var stateDir string
	var keep time.Duration
	c := &cobra.Command{
		Use:   "gc",
		Short: "Remove what nobody needs any more from the state directory",
		Long: "Remove the records and captured output of commands whose results were taken, and sessions that\n" +
			"ended, or died, with nothing owed. What is owed stays, and so do all working directories.",
		Args: exactly(0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			if keep < 0 {
				return usage("0s keeps nothing that is not owed", "--keep is negative: %v", keep)
			}
			got, problems, err := runtime.Collect(c.Context(), stateDir, keep)
			a.warnAll(problems)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "removed %s and %s, %s\n", count(int64(got.Jobs), "command"), count(int64(got.Sessions), "session"), size(got.Bytes))
			return nil
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().DurationVar(&keep, "keep", time.Hour, "keep what was taken, ended or died more recently than this")
	return c
}

// roughly is a duration as a table shows it.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// size is a number of bytes as a table shows it.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	f, prefixes := float64(n)/unit, "KMGTP"
	for f >= unit && len(prefixes) > 1 {
		f, prefixes = f/unit, prefixes[1:]
	}
	return fmt.Sprintf("%.1f %ciB", f, prefixes[0])
}

// oneSession finds the one session that a person means; an empty what is the
// last one.
func oneSession(stateDir, what string) (runtime.SessionInfo, error) {
	sessions, err := runtime.Sessions(stateDir)
	if err != nil {
		return runtime.SessionInfo{}, err
	}
	matching := slices.DeleteFunc(sessions, func(s runtime.SessionInfo) bool {
		return !means(what, s.ID)
	})
	switch {
	case len(matching) == 0:
		return runtime.SessionInfo{}, usage("see murmur sessions", "there is no session %q in %s", what, stateDir)
	case what != "" && len(matching) > 1:
		return runtime.SessionInfo{}, usage("write more of its id", "%q could be %d sessions", what, len(matching))
	}
	return matching[len(matching)-1], nil
}
