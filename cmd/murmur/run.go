package main

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime"
)

// runFlags are the flags of murmur run, beside those of the manifest.
type runFlags struct {
	manifest  manifestFlags
	tasks     messages
	origin    string
	workdir   string
	stateDir  string
	untilIdle bool
	timeout   time.Duration
	resume    string
	retention time.Duration
	json      bool
	verbose   bool
}

// resumeLast is what --resume without a session stands for.
const resumeLast = "last"

func (a *app) runCommand() *cobra.Command {
	f := &runFlags{tasks: messages{stdin: a.stdin}}
	c := &cobra.Command{
		Use:   "run PATH",
		Short: "Run a capsule and give it tasks",
		Long: "Run a capsule: a folder with a murmur.yaml, the manifest itself, or a bare WebAssembly module.\n\n" +
			"Results go to standard output, a timeline of what happens to standard error. Ctrl-C ends the\n" +
			"session after the current task; a second one ends it at once. No command is killed by either.",
		Example: "  murmur run ./builder --task 'make test' --until-idle\n" +
			"  murmur run guest.wasm --allow bash --task 'echo hi' --json",
		Args: f.onePath,
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.Var(taskFlag{&f.tasks}, "task", "a task's message; may be repeated")
	flags.Var(taskFileFlag{&f.tasks}, "task-file", "a file that holds a task's message, - for standard input; may be repeated")
	flags.StringVar(&f.origin, "origin", "user", "where the tasks come from: user, event or peer")
	flags.BoolVar(&f.untilIdle, "until-idle", false, "queue tasks, and end when none waits and no command is outstanding")
	flags.DurationVar(&f.timeout, "timeout", 0, "end the session at once when it has run this long")
	flags.StringVar(&f.resume, "resume", "", "go on from a session (--resume=ID), or from the capsule's last one")
	flags.Lookup("resume").NoOptDefVal = resumeLast
	flags.StringVar(&f.workdir, "workdir", "", "the directory of the guest and its commands (default a fresh one)")
	stateDirFlag(flags, &f.stateDir)
	flags.DurationVar(&f.retention, "retention", time.Hour, "how long records and captured output of commands are kept after their results were taken")
	flags.BoolVar(&f.json, "json", false, "print each task's result as a line of JSON")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "show what the guest writes to its standard output and error, and how its commands are contained")
	f.manifest.register(flags)
	completions(c, "origin", "user", "event", "peer")
	completions(c, "accept", capsule.AcceptNone, capsule.AcceptSingle, capsule.AcceptQueue)
	completions(c, "after-task", capsule.AfterExit, capsule.AfterSleep)
	completions(c, "containment", capsule.ContainAdvisory, capsule.ContainScoped, capsule.ContainSealed)
	completions(c, "network", capsule.NetworkNone, capsule.NetworkHost)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := f.prepare(a, c, args[0])
		if err != nil {
			return err
		}
		return r.run(c.Context())
	}
	return c
}

// onePath wants the path alone. An id after --resume is a second path to the
// parser of flags, for that flag may stand alone.
func (f *runFlags) onePath(c *cobra.Command, args []string) error {
	if len(args) == 2 && f.resume == resumeLast {
		return usage("a session is named with an equals sign: --resume="+args[1], "too many arguments: %s wants the PATH of a capsule", c.CommandPath())
	}
	return exactly(1, "the PATH of a capsule")(c, args)
}

// prepare checks the flags and reads the manifest, before anything is started.
func (f *runFlags) prepare(a *app, c *cobra.Command, path string) (*runner, error) {
	origin, err := outsideOrigin(f.origin)
	if err != nil {
		return nil, err
	}
	m, err := f.manifest.load(path, c.Flags())
	if err != nil {
		return nil, err
	}
	if f.untilIdle {
		m.Lifecycle.TaskAcceptance, m.Lifecycle.AfterTask = capsule.AcceptQueue, capsule.AfterSleep
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := f.check(m, c); err != nil {
		return nil, err
	}
	if err := f.makeAbsolute(); err != nil {
		return nil, err
	}
	old, err := f.resumed(m.Name)
	return &runner{app: a, flags: f, manifest: m, origin: origin, old: old}, err
}

// check refuses what can never come to anything.
func (f *runFlags) check(m *capsule.Manifest, c *cobra.Command) error {
	const hint = "use --until-idle, or lifecycle.task_acceptance: queue"
	n, l := len(f.tasks.texts), m.Lifecycle
	switch {
	case c.Flags().Changed("workdir") && f.workdir == "":
		return usage("leave --workdir out for a fresh directory", "--workdir is empty")
	case f.stateDir == "":
		return usage("leave --state-dir out for "+runtime.DefaultStateDir(), "--state-dir is empty")
	case f.timeout < 0:
		return usage("", "--timeout is negative: %v", f.timeout)
	case f.retention <= 0:
		return usage("", "--retention is to be more than 0, not %v", f.retention)
	case n > 0 && l.TaskAcceptance == capsule.AcceptNone:
		return usage(hint, "the capsule takes no task: lifecycle.task_acceptance is none")
	case n > 1 && l.TaskAcceptance == capsule.AcceptSingle:
		return usage(hint, "the capsule takes one task and got %d: lifecycle.task_acceptance is single", n)
	case n == 0 && f.resume == "" && l.AfterTask != capsule.AfterSleep:
		return usage("give it one with --task or --task-file", "there is no task for the capsule")
	}
	return nil
}

// makeAbsolute makes the directories independent of where the process is, and
// names the workdir as sessions do: by its real path.
func (f *runFlags) makeAbsolute() (err error) {
	if f.workdir == "" {
		return nil
	}
	if f.workdir, err = filepath.Abs(f.workdir); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(f.workdir); err == nil {
		f.workdir = real // One that is not there is told of later.
	}
	return nil
}

// resumed finds the session of the capsule to go on from; none is the zero
// value.
func (f *runFlags) resumed(capsule string) (runtime.SessionInfo, error) {
	switch f.resume {
	case "":
		return runtime.SessionInfo{}, nil
	case resumeLast:
		return f.lastOf(capsule)
	}
	return oneSession(f.stateDir, f.resume)
}

// lastOf finds the last session of the capsule that has ended, in the workdir if
// one is given.
func (f *runFlags) lastOf(capsule string) (runtime.SessionInfo, error) {
	sessions, err := runtime.Sessions(f.stateDir)
	if err != nil {
		return runtime.SessionInfo{}, err
	}
	for _, s := range slices.Backward(sessions) {
		if s.Capsule == capsule && !s.Running && (f.workdir == "" || s.Workdir == f.workdir) {
			return s, nil
		}
	}
	return runtime.SessionInfo{}, usage("start without --resume", "there is no ended session of capsule %s to resume in %s", capsule, f.stateDir)
}
