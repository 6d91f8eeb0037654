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
// all that scoped does.
//
// # Limits of the idea
//
// Landlock's execute right is no allow-list of programs: the dynamic loader
// maps any readable file. The boundary is what the command can reach, not which
// binaries it starts. Under scoped the command sees the names and command lines
// of the host's processes in /proc; sealed hides them.
//
// The package imports no other package of this module. Off Linux only advisory
// exists.
package containment
