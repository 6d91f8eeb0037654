// Package runtime runs capsules: WebAssembly guests that ask for shell
// commands.
//
// A [Runtime] holds a compiled-code cache and a state directory. [Runtime.Load]
// compiles a capsule's guest; [Runtime.Start] launches it as a [Session], which
// owns a working directory, a queue of tasks and a trace. [Session.Submit]
// hands the guest a task and returns a [Ticket] for its result.
//
//	rt, err := runtime.New(runtime.Options{})
//	c, err := rt.Load(ctx, manifest)
//	s, err := rt.Start(ctx, c, runtime.SessionOptions{})
//	t, err := s.Submit(ctx, runtime.Task{Origin: provenance.User, Message: "echo hi"})
//	res, err := t.Wait(ctx)
//
// A command that outlives its grace period is demoted: the guest's call
// returns at once, the command goes on, and its end comes back as a task of its
// own, with a provenance derived from the task that started it. Nothing that a
// guest or an embedder can call takes the id of such a command as an argument:
// [Session.Outstanding] lists opaque handles.
//
// # Concurrency
//
// All exported methods are safe for concurrent use. A session runs one task at
// a time. No goroutine is left behind once [Session.Wait] and [Runtime.Close]
// have returned.
package runtime
