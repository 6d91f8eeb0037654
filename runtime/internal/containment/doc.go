// Package containment decides and enforces what a command may touch, and says
// afterwards what was really enforced.
//
// The way through it: an [Ask] is what a manifest wants, a [Host] is what
// [Probe] found by trying, and [Plan] turns the two into a [Profile], or into a
// [RefusedError] that names the missing mechanism and the remedy. Planning is
// pure; it runs on any operating system. [Open] prepares a profile once a
// session, [Sandbox.Start] starts each command under it, and [Command.Finish]
// tells how the command really ended and which limit it met.
//
// # Classes
//
// Advisory gives resource limits and a process group, and claims nothing else.
// Scoped keeps the command on the host's own root: no_new_privs, Landlock,
// seccomp, no capabilities, applied on an operating-system thread that forks
// once and is thrown away. Sealed builds namespaces and a root of its own by a
// re-executed helper, whose init is ours and never the command; then it does
// all that scoped does. As root, where a control group can end what a command
// leaves behind, the namespaces are the session's and threads enter them, at the
// cost of scoped; else each command has its own, at several times that cost.
//
// # How a limit gets onto a command
//
// Limits belong to a process, not to a thread, and nothing can be set on a child
// before its fork. So the child stops at its exec, by ptrace, and its limits are
// set before its first instruction. The thread that forked it is its tracer, and
// lets it go by ending: while a restricted thread of this process lived, it
// would be in the command's own Landlock domain, open to be traced.
//
// A thread joins version 1 control groups by itself. Version 2 has no such way,
// and the filter takes clone3 away, so that on a host of version 2 alone a
// scoped command is moved while it is held; that waits for every processor, and
// costs some milliseconds.
//
// # Limits of the idea
//
// Landlock's execute right is no allow-list of programs: the dynamic loader
// maps any readable file. The boundary is what the command can reach, not which
// binaries it starts. Under scoped the command sees the names and command lines
// of the host's processes in /proc; sealed hides them.
//
// Landlock does not mediate metadata: under scoped, a command can still look at,
// and change the mode and the times of, files that its user owns anywhere. The
// escape suite lists what cannot be refused, with the reasons.
//
// The package imports no other package of this module. Off Linux only advisory
// exists.
package containment
