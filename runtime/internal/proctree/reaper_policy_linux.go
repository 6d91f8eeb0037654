package proctree

// A Reaper is the policy by which the exit status of a session's leader is
// collected. [OwnChildren] is for a process that has other children too, a
// [Subreaper] for one whose only business they are.
type Reaper interface {
	// Spawn calls fork, which starts one process as the leader of a new
	// session with mark in its environment, and returns the leader. No status
	// is lost, however soon the process ends.
	Spawn(mark string, fork func() (Forked, error)) (*Leader, error)
}

// Forked is what a fork made.
type Forked struct {
	PID int
	// PIDFD is a pidfd of the process; it belongs to the reaper from here on.
	PIDFD int
}
