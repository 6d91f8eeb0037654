package supervisor

import (
	"context"
	"sync"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// remote is a command that the supervisor runs, as the runtime sees it.
type remote struct {
	runner *Runner
	name   string
	ended  chan struct{}

	mu      sync.Mutex
	over    bool
	demoted bool
	started time.Time
	output  shell.Output
	exit    shell.Exit
}

// begun is told by the answer to the start. The end may have come first.
func (p *remote) begun(started time.Time, output *shell.Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = started
	if output != nil && !p.over {
		p.output = *output
	}
}

// end takes the end; only the first one counts.
func (p *remote) end(exit shell.Exit, output shell.Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	p.over, p.exit, p.output = true, exit, output
	p.runner.slots.Release()
	close(p.ended)
}

// cancel gives up a start that failed.
func (p *remote) cancel() { p.end(shell.Exit{}, shell.Output{}) }

// lose ends a process whose supervisor is gone for good.
func (p *remote) lose() {
	p.end(shell.Exit{
		Code: -1, Reason: shell.ReasonDied, Duration: time.Since(p.Started()),
		WaitErr: "the supervisor died and could not be replaced",
	}, p.Output())
}

func (p *remote) Ended() <-chan struct{} { return p.ended }

func (p *remote) Exit() shell.Exit {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

func (p *remote) Started() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// hasEnded says whether the end is known.
func (p *remote) hasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// onRecord says whether the end is known and the record accounts for it.
func (p *remote) onRecord() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over && p.demoted
}

// Output measures the files while the command runs: what was dropped is known
// once it has ended.
func (p *remote) Output() shell.Output {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.output
	if !p.over {
		o.StdoutBytes, o.StderrBytes = fileSize(o.StdoutPath), fileSize(o.StderrPath)
	}
	return o
}

// Stop implements [shell.Process].
func (p *remote) Stop(ctx context.Context, why shell.Reason) error {
	select {
	case <-p.ended:
		return nil
	default:
	}
	_, err := p.runner.call(ctx, message{Kind: kindStop, Name: p.name, Reason: why})
	if err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Demote implements [shell.Durable]. Like a start it is not given up half-way:
// either the record is there or the command is gone.
func (p *remote) Demote(ctx context.Context, d shell.Demotion) error {
	_, err := p.runner.call(context.WithoutCancel(ctx), message{Kind: kindDemote, Name: p.name, Work: d.WorkID})
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.demoted = true
	p.mu.Unlock()
	if p.onRecord() {
		p.runner.forget(p.name)
	}
	return nil
}

// Settle implements [shell.Durable]. It goes with whatever is sent next, a
// command's start or a task's end: should the runtime die before, the result is
// told once too often.
func (p *remote) Settle() {
	p.runner.forget(p.name)
	p.runner.mu.Lock()
	c := p.runner.conn
	p.runner.mu.Unlock()
	if c != nil {
		_ = c.queue(message{Kind: kindSettle, Name: p.name})
	}
}
