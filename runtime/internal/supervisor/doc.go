// Package supervisor owns running commands and outlives the runtime that asked
// for them.
//
// A supervisor is this very program, run again from /proc/self/exe: [Hook],
// called first in main, never returns in such a process. One serves one
// session. It is found by a socket in the session's directory, leads a kernel
// session of its own, holds nothing of the runtime's but the descriptors it was
// given, and is the parent of every orphan that its commands leave.
//
// # The runtime's side
//
// [Connect] finds the session's supervisor or starts one, and gives a [Runner].
// Starting a command is one round trip, one unsynced line in the journal before
// the fork and one after. [Runner.Task] names the task whose commands are
// accepted. A supervisor that dies is started again at once: the new one reads
// the journal, adopts the commands by their identity and goes on.
//
// # What survives what
//
// The journal survives the death of every process; the records that jobs keeps
// survive the death of the machine. A command gets its record, synced, when it
// is demoted, or when the runtime's connection drops: whatever ran then, and
// whatever had ended but was not settled, is owed to the next session. The
// supervisor leaves when nothing runs, every exit record is on disk, and nobody
// is connected.
//
// Linux only. Elsewhere [Supported] is false and Connect fails.
package supervisor
