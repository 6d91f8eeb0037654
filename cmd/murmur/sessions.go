package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/runtime"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func (a *app) sessionsCommand() *cobra.Command {
	var stateDir string
	var asJSON bool
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List the sessions, oldest first",
		Args:  exactly(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			sessions, err := runtime.Sessions(stateDir)
			if err != nil {
				return err
			}
			if asJSON {
				return encodeAll(a.stdout, sessions)
			}
			return a.showSessions(sessions, stateDir)
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().BoolVar(&asJSON, "json", false, "print each session as a line of JSON")
	return c
}

func encodeAll(w io.Writer, sessions []runtime.SessionInfo) error {
	for _, s := range sessions {
		if err := encodeLine(w, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) showSessions(sessions []runtime.SessionInfo, stateDir string) error {
	if len(sessions) == 0 {
		fmt.Fprintf(a.stderr, "there is no session in %s\n", stateDir)
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tSTATE\tSTARTED\tCAPSULE\tWORKDIR")
	for _, s := range sessions {
		if s.Damaged != "" {
			a.warn("session %s: %s", s.ID, s.Damaged)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", s.ID, sessionState(s), s.Started.Format(time.DateTime),
			printable(s.Capsule+" "+s.Version), printable(s.Workdir))
	}
	return w.Flush()
}

func sessionState(s runtime.SessionInfo) string {
	switch {
	case s.Running:
		return fmt.Sprintf("running (process %d)", s.PID)
	case s.Died():
		return "died"
	}
	return "ended"
}

func (a *app) sendCommand() *cobra.Command {
	var stateDir, origin, contextID string
	c := &cobra.Command{
		Use:   "send [SESSION] TEXT",
		Short: "Send a task to a running session, the last one by default",
		Long: "Send a task to a session that some process runs: one that sleeps between its tasks, with\n" +
			"lifecycle.task_acceptance: queue and lifecycle.after_task: sleep. A full queue refuses it.",
		Args: between(1, 2, "a session, or none, and a text"),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := outsideOrigin(origin)
			if err != nil {
				return err
			}
			if len(args) == 2 && args[0] == "" {
				return usage("leave it out for the last one that runs", "the session is empty")
			}
			info, err := sleepingSession(stateDir, strings.Join(args[:len(args)-1], ""))
			if err != nil {
				return err
			}
			id, err := runtime.Send(c.Context(), info, runtime.Task{Origin: o, Message: args[len(args)-1], ContextID: contextID})
			if errors.Is(err, runtime.ErrNotRunning) {
				return usage("murmur run PATH --resume="+info.ID+" goes on with it", "session %s is not running", info.ID)
			}
			if err != nil {
				return &failure{err: fmt.Errorf("session %s: %w", info.ID, err), code: exitFailed}
			}
			fmt.Fprintln(a.stdout, id)
			return nil
		},
	}
	stateDirFlag(c.Flags(), &stateDir)
	c.Flags().StringVar(&origin, "origin", "user", "where the task comes from: user, event or peer")
	c.Flags().StringVar(&contextID, "context", "", "the context that the task belongs to")
	return c
}

// outsideOrigin is an origin that a person may give a task.
func outsideOrigin(name string) (provenance.Origin, error) {
	o, err := provenance.ParseOrigin(name)
	if err != nil || o != provenance.User && o != provenance.Event && o != provenance.Peer {
		return o, usage("", "--origin is user, event or peer, not %q", name)
	}
	return o, nil
}

// sleepingSession is the session that a person means; none stands for the last
// one that runs.
func sleepingSession(stateDir, what string) (runtime.SessionInfo, error) {
	if what != "" {
		return oneSession(stateDir, what)
	}
	sessions, err := runtime.Sessions(stateDir)
	if err != nil {
		return runtime.SessionInfo{}, err
	}
	for i := len(sessions) - 1; i >= 0; i-- {
		if sessions[i].Running {
			return sessions[i], nil
		}
	}
	return runtime.SessionInfo{}, usage("murmur run PATH starts one", "no session is running in %s", stateDir)
}
