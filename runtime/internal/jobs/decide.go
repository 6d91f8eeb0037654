package jobs

import "time"

// Verdict says whether a recorded process is still the one that lives under
// its pid.
type Verdict string

// The verdicts. Only what is Owned is ever signalled.
const (
	// Owned is a living process with the recorded identity.
	Owned Verdict = "owned"
	// Gone is a pid that nothing lives under.
	Gone Verdict = "gone"
	// Foreign is a pid that another process lives under.
	Foreign Verdict = "foreign"
	// Unverifiable is a process of which nothing can be proven.
	Unverifiable Verdict = "unverifiable"
)

// maxKillTries is how many unproven teardowns a work goes through before it is
// followed up with its survivors named.
const maxKillTries = 3

// supervisorSlack is how long after the limit a living supervisor is trusted to
// enforce it before someone else does.
const supervisorSlack = time.Minute

// ExitState is what the exit record is worth.
type ExitState int

// The exit states.
const (
	ExitAbsent ExitState = iota
	ExitValid
	// ExitUnusable is unreadable, or about another launch.
	ExitUnusable
)

// Observation is all that a decision on a running work rests on.
type Observation struct {
	Exit    ExitState
	Verdict Verdict
	// Age counts from the start of the command.
	Age time.Duration
	// Supervised says that a living supervisor has the command. It must have
	// been looked up before the exit record was.
	Supervised bool
	// StartUp marks the first pass of a new runtime.
	StartUp bool
}

// Action is what is to be done with a record.
type Action int

// The actions.
const (
	// Keep leaves the record as it is.
	Keep Action = iota
	// Collect takes the outcome from the exit record.
	Collect
	// Fail finishes the work with the decision's reason. Nothing is signalled.
	Fail
	// Teardown ends the process tree and finishes the work with the reason.
	Teardown
	// Ask tells the supervisor again to stop the command.
	Ask
	// Unproven counts a teardown that cannot even be tried, because nothing
	// shows that the process is ours.
	Unproven
)

// Decision is an action and the reason that the work will carry.
type Decision struct {
	Action Action
	Reason Reason
}

// Decide says what is to be done with r. It is pure: the order of its cases is
// the order of the reasons.
func Decide(r Record, o Observation) Decision {
	switch {
	case r.State != Running:
		return Decision{Action: Keep}
	case o.Exit == ExitValid:
		return Decision{Action: Collect}
	case o.Exit == ExitUnusable:
		return Decision{Action: Fail, Reason: ResultUnavailable}
	case o.Supervised && !o.StartUp && r.StopRequestedAt != 0:
		return Decision{Action: Ask, Reason: Killed}
	case o.Supervised && !overdue(r, o.Age, supervisorSlack):
		return Decision{Action: Keep}
	case o.StartUp:
		return decideStartUp(o.Verdict)
	case r.StopRequestedAt != 0:
		return decideTeardown(Killed, o.Verdict)
	case overdue(r, o.Age, 0):
		return decideTeardown(TimedOut, o.Verdict)
	case o.Verdict == Gone || o.Verdict == Foreign:
		return Decision{Action: Fail, Reason: Died}
	default:
		return Decision{Action: Keep}
	}
}

// decideStartUp retires what cannot be shown to be ours: kept, it would be
// signalled later on a pid that the kernel has given to a bystander.
func decideStartUp(v Verdict) Decision {
	if v == Foreign || v == Unverifiable {
		return Decision{Action: Fail, Reason: OwnershipLost}
	}
	return Decision{Action: Keep}
}

func decideTeardown(why Reason, v Verdict) Decision {
	switch v {
	case Owned:
		return Decision{Action: Teardown, Reason: why}
	case Gone, Foreign:
		// The leader has ended. What may live on of its group is named, never
		// signalled.
		return Decision{Action: Fail, Reason: why}
	default:
		return Decision{Action: Unproven, Reason: why}
	}
}

func overdue(r Record, age, slack time.Duration) bool {
	return r.MaxRuntimeMS > 0 && age > r.MaxRuntime()+slack
}

// GivesUp says whether a work whose teardown failed this many times is followed
// up all the same.
func GivesUp(kills int) bool { return kills >= maxKillTries }
