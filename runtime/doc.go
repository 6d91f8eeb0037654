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
// # Containment
//
// Commands are contained as the manifest asks, or else as well as the host can
// up to class scoped: they reach the workdir and the system's programs, no state
// of the runtime, no keys of the user and no network. A host that cannot give
// what is asked for refuses the launch with a [ContainmentError].
// [Session.Containment] is the [Receipt] that says what is enforced, and
// [Diagnose] what this host could give.
//
// Commands keep the user that runs the program. As root they have no
// capabilities, so that a workdir which belongs to somebody else is closed to
// them; that is said at the start. A workdir that holds the state directory is
// refused.
//
// # Concurrency
//
// All exported methods are safe for concurrent use. A session runs one task at
// a time. No goroutine is left behind once [Session.Wait] and [Runtime.Close]
// have returned.
package runtime
