package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/ids"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
	"github.com/murmur-capsule/murmur/runtime/internal/trace"
)

// launchName is the kind of the names under which commands are started.
const launchName ids.Kind = "run_"

var errNoTask = errors.New("no task runs: a command can only be asked for on behalf of one")

// openShell prepares what the session's commands may be and who starts them.
func (s *Session) openShell() (err error) {
	m := s.capsule.manifest
	c := shell.Config{
		Allow:       m.Capabilities.Shell.Allow,
		AllowEnv:    m.Capabilities.Shell.AllowEnv,
		BaselineEnv: m.Capabilities.Shell.BaselineEnv,
		StripEnv:    m.Capabilities.Shell.StripEnv,
		Host:        s.rt.opts.Environ,
		MaxRuntime:  m.Lifecycle.MaxRuntime(),
		OutDir:      s.outDir(),
		Workdir:     s.workdir,
	}
	s.contained.apply(&c)
	if s.policy, err = shell.NewPolicy(c); err != nil {
		return fmt.Errorf("cannot set up the shell: %w", err)
	}
	s.warnContained()
	s.warnUnsupervised()
	if m.Lifecycle.ShellSurvives && supervisor.Supported && s.opts.Shell == nil {
		return s.openSupervised()
	}
	if err := s.contained.openSandbox(); err != nil {
		return err
	}
	s.runner, err = shell.NewInProcess(shell.Options{MaxRunning: m.Lifecycle.ShellMaxRunning, Sandbox: s.contained.sandbox})
	return err
}

// tool is murmur:tool/run as this session serves it.
func (s *Session) tool() *host.Plugin { return toolrun.Plugin(shellTool{s}) }

// A shellTool serves the guest's shell requests.
type shellTool struct{ s *Session }

// Run is the way of one command: request, policy, launch, and the wait for its
// end, its grace or its caller's going away.
func (t shellTool) Run(ctx context.Context, in toolrun.Input) toolrun.Result {
	current := t.s.current.Load()
	if current == nil {
		return toGuest(shell.Refusal(errNoTask))
	}
	current.calls++
	r, err := parse(in)
	if err != nil {
		return toGuest(shell.Refusal(err))
	}
	if t.s.opts.Shell != nil {
		return t.s.opts.Shell(ctx, r.public()).toGuest()
	}
	return t.s.runCommand(current, r)
}

func parse(in toolrun.Input) (request, error) {
	if in.Data == nil {
		return request{}, &shell.FieldError{Field: "data", Problem: "missing; a shell request in JSON is needed"}
	}
	r, err := shell.Parse([]byte(*in.Data))
	r.LogPath = in.LogPath
	return request{r}, err
}

// runCommand starts r for the task and answers the guest.
func (s *Session) runCommand(t *task, r request) toolrun.Result {
	l, err := s.policy.Prepare(r.Request, launchName.New(), t.id)
	if err != nil {
		return toGuest(shell.Refusal(err))
	}
	if err := s.checkQuota(t); err != nil {
		return toGuest(shell.Refusal(err))
	}
	// Not before: a task that only asked in vain can be run again.
	if err := s.pending.ran(t); err != nil {
		return toGuest(shell.Refusal(err))
	}
	l.Text, l.ContextID = r.KeptText(), t.contextID
	l.Origin, l.Trust = t.prov.Origin().String(), t.prov.Trust().String()
	if r.LogPath != nil {
		l.LogPath = *r.LogPath
	}
	proc, err := s.runner.Start(t.ctx, l)
	if err != nil {
		return toGuest(shell.Refusal(err))
	}
	testOnlyStep("started")
	work, err := detach.Await(proc, s.detachPolicy(t, r, l))
	switch {
	case err != nil:
		return toGuest(shell.Refusal(err))
	case work != nil:
		return toGuest(detach.DemotionResult(*work))
	}
	return s.foreground(t, r, l, proc)
}

// detachPolicy says when the command goes on without its caller; without one
// every command is awaited.
func (s *Session) detachPolicy(t *task, r request, l shell.Launch) *detach.Policy {
	lc := s.capsule.manifest.Lifecycle
	if !lc.ShellDetach {
		return nil
	}
	return &detach.Policy{
		Grace: lc.Grace(), Background: r.Background,
		Registry: s.registry, Binary: l.Path, Command: l.Text,
		TaskID: t.id, ContextID: t.contextID, Provenance: &t.prov,
		Abandoned: t.ctx.Done(),
		WriteLog:  s.workLog(r.Request),
		Demoting:  s.demoting,
	}
}

// workLog writes the log of a demoted command into the workdir, once. Where a
// runtime that died has left one, whole or not, the log gets a name beside it.
func (s *Session) workLog(r shell.Request) detach.LogWriter {
	return func(w detach.Work, out shell.Output, exit shell.Exit) detach.Log {
		log := shell.Log{Command: r.Text(), Exit: exit, Output: out}
		var written detach.Log
		written.Path, written.Bytes, written.Err = s.writeFresh(w.LogPath(), log)
		if r.LogPath != nil {
			_, written.CopyErr = s.workdir.WriteLog(*r.LogPath, log)
		}
		return written
	}
}

// maxLogNames bounds how many names are tried for one log.
const maxLogNames = 8

func (s *Session) writeFresh(name string, log shell.Log) (string, int64, error) {
	stem := strings.TrimSuffix(name, ".log")
	for i := 1; ; i++ {
		n, err := s.workdir.WriteLog(name, log)
		if !errors.Is(err, fs.ErrExist) || i == maxLogNames {
			return name, n, err
		}
		name = fmt.Sprintf("%s.%d.log", stem, i)
	}
}

// demoting counts a command that goes to the background, before anything can be
// said of its end.
func (s *Session) demoting(w detach.Work) error {
	s.account.add(1)
	s.account.note(func(c *counts) { c.detached++ })
	e := w.Event()
	e.Containment = s.confirmation()
	s.trace.add(e)
	testOnlyStep("demoted")
	return nil
}

func (s *Session) foreground(t *task, r request, l shell.Launch, proc shell.Process) toolrun.Result {
	res := shell.Foreground(s.workdir, r.Request, proc)
	exit, out := proc.Exit(), proc.Output()
	s.trace.add(trace.Event{
		Type: trace.Shell, TaskID: t.id, Binary: l.Path, Command: l.Text, ExitCode: trace.Int(exit.Code),
		StdoutBytes: trace.Int(out.StdoutBytes), StderrBytes: trace.Int(out.StderrBytes),
		DurationMS: trace.Int(exit.Duration.Milliseconds()), Reason: string(exit.Reason), ResourceLimit: exit.Limit,
		Containment: s.confirmation(),
	})
	s.keepDaemons(t, proc)
	if s.durables == nil {
		// A supervised command's output is kept until its task is over: should
		// the runtime die, the task is interrupted and the output is owed.
		_ = out.Remove()
	}
	return toGuest(res)
}

func toGuest(r shell.Result) toolrun.Result {
	out := toolrun.Result{
		Status: toolrun.Status(r.Status), Summary: r.Summary, Data: r.Data, DataPath: r.DataPath,
		Truncated: r.Truncated, Metadata: make([]toolrun.Pair, len(r.Metadata)),
	}
	for i, p := range r.Metadata {
		out.Metadata[i] = toolrun.Pair{Key: p.Key, Value: p.Value}
	}
	return out
}

// A request is a parsed shell request.
type request struct{ shell.Request }

func (r request) public() ShellRequest {
	env := make(map[string]string, len(r.Env))
	for _, v := range r.Env {
		env[v.Name] = v.Value
	}
	return ShellRequest{
		Binary: r.Binary, Command: r.Command, Args: r.Args, Env: env, Stdin: string(r.Stdin), Cwd: r.Cwd,
		Timeout: r.Timeout, Background: r.Background,
	}
}

// A ShellRequest is what a guest asked for, as a [ShellFunc] sees it.
type ShellRequest struct {
	Binary     string
	Command    string
	Args       []string
	Env        map[string]string
	Stdin      string
	Cwd        string
	Timeout    time.Duration
	Background bool
}

// A ShellFunc answers a guest's shell requests in place of real commands.
type ShellFunc func(ctx context.Context, r ShellRequest) ShellAnswer

// A ShellAnswer is what a scripted shell says.
type ShellAnswer struct {
	// Status is "passed", "failed" or "error"; empty stands for "passed".
	Status string
	// Summary, Data and DataPath are absent where empty.
	Summary, Data, DataPath string
	Truncated               bool
	// Metadata are pairs of a name and a value.
	Metadata [][2]string
}

func (a ShellAnswer) toGuest() toolrun.Result {
	out := toolrun.Result{Truncated: a.Truncated}
	switch a.Status {
	case toolrun.Failed.String():
		out.Status = toolrun.Failed
	case toolrun.Error.String():
		out.Status = toolrun.Error
	}
	for _, f := range []struct {
		to   **string
		text string
	}{{&out.Summary, a.Summary}, {&out.Data, a.Data}, {&out.DataPath, a.DataPath}} {
		if f.text != "" {
			*f.to = &f.text
		}
	}
	for _, p := range a.Metadata {
		out.Metadata = append(out.Metadata, toolrun.Pair{Key: p[0], Value: p[1]})
	}
	return out
}
