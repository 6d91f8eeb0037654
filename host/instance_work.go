package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// The shapes of murmur:task/handler's handle.
type (
	handleParams struct{ Task wireTask }
	handleResult = Result[string, string]

	wireTask struct {
		ID        string
		ContextID string
		Origin    taskOrigin
		Trust     taskTrust
		Message   string
	}
	taskOrigin uint8
	taskTrust  uint8
)

// WITEnum are the names of the cases.
func (taskOrigin) WITEnum() []string {
	return []string{"user", "peer", "schedule", "event", "completion", "system"}
}

// WITEnum are the names of the cases.
func (taskTrust) WITEnum() []string { return []string{"trusted", "untrusted"} }

// mustPlan plans the call of an export of our own WIT.
func mustPlan[P, R any](what string) *canon.GuestFunc[P, R] {
	f, err := canon.NewGuestFunc[P, R](nil)
	if err != nil {
		panic(fmt.Sprintf("internal error: the type of %s: %v", what, err))
	}
	return f
}

type noParams struct{}

var (
	handleFunc  = mustPlan[handleParams, handleResult]("handle")
	loopFunc    = mustPlan[noParams, Unit]("a looper's run")
	commandFunc = mustPlan[noParams, Result[Unit, Unit]]("a command's run")
)

// A Task is one message for a guest: WIT's record task of murmur:task/types.
type Task struct {
	ID        string
	ContextID string
	// Origin and Trust are cases of the enums origin and trust, by their place
	// in the WIT.
	Origin  uint8
	Trust   uint8
	Message string
}

// Handle gives a guest whose way is [Handler] one task. The text is the result,
// or the guest's own error if isErr. An err means that the guest did not answer:
// a [*TrapError], an [*ExitError], [ErrCanceled] or [ErrComputeLimit].
func (i *Instance) Handle(ctx context.Context, t Task) (text string, isErr bool, err error) {
	c, e, err := i.enterWay(ctx, Handler)
	if err != nil {
		return "", false, err
	}
	res, err := handleFunc.Call(c, e, handleParams{wireTask{
		ID: t.ID, ContextID: t.ContextID, Origin: taskOrigin(t.Origin), Trust: taskTrust(t.Trust), Message: t.Message,
	}})
	if err := i.leave(c, err); err != nil {
		return "", false, err
	}
	if res.IsErr {
		return res.Err, true, nil
	}
	return res.OK, false, nil
}

// RunLoop runs a guest whose way is [Looper], until it returns. The errors are
// those of [Instance.Handle].
func (i *Instance) RunLoop(ctx context.Context) error {
	c, e, err := i.enterWay(ctx, Looper)
	if err != nil {
		return err
	}
	_, err = loopFunc.Call(c, e, noParams{})
	return i.leave(c, err)
}

// RunCommand runs a guest whose way is [Command], and gives its exit code. It
// can be called once. The errors are those of [Instance.Handle].
func (i *Instance) RunCommand(ctx context.Context) (exit int, err error) {
	c, e, err := i.enterWay(ctx, Command)
	if err != nil {
		return 0, err
	}
	if i.component != nil {
		var res Result[Unit, Unit]
		if res, err = commandFunc.Call(c, e, noParams{}); res.IsErr {
			exit = 1
		}
	} else {
		err = e.Core.CallWithStack(c, nil)
	}
	err = i.leave(c, err)
	var code *ExitError
	if errors.As(err, &code) && !errors.Is(err, ErrMemoryLimit) {
		return code.Code, nil
	}
	return exit, err
}

// enterWay begins a call of the export by which the guest has a way.
func (i *Instance) enterWay(ctx context.Context, w Way) (*callContext, *canon.Export, error) {
	name, err := i.guest.wayExport(w)
	if err != nil {
		return nil, nil, err
	}
	c, err := i.enter(ctx)
	if err != nil {
		return nil, nil, err
	}
	e, err := i.export(name)
	if err != nil {
		return nil, nil, i.leave(c, setupError{err})
	}
	return c, e, nil
}

// export binds an export, once: it costs some microseconds.
func (i *Instance) export(name string) (*canon.Export, error) {
	if e := i.exports[name]; e != nil {
		return e, nil
	}
	bind := i.moduleExport
	if i.component != nil {
		bind = i.componentExport
	}
	e, err := bind(name)
	if err == nil {
		i.exports[name] = e
	}
	return e, err
}

func (i *Instance) moduleExport(name string) (*canon.Export, error) {
	e := &canon.Export{Name: name, Binding: &i.binding, Core: i.module.ExportedFunction(name)}
	if post := canon.PostReturn(name); i.guest.hasExport(post) {
		e.PostReturn = i.module.ExportedFunction(post)
	}
	return e, nil
}

func (g *Guest) hasExport(name string) bool {
	_, ok := g.exports[name]
	return ok
}
