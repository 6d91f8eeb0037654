package supervisor

import (
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// protocol is the version of the messages. A peer of another one is told so by
// the welcome, and can still stop and list: those messages never change.
const protocol = 1

// Role says what a peer may do.
type Role string

// The roles. One runtime at a time starts commands; any number of operators
// list and stop them.
const (
	roleRuntime  Role = "runtime"
	roleOperator Role = "operator"
)

// kind names a message.
type kind string

// What a peer sends.
const (
	kindHello     kind = "hello"
	kindTask      kind = "task"      // no answer
	kindStart     kind = "start"     // answered by done, then ended
	kindDemote    kind = "demote"    // answered by done
	kindContained kind = "contained" // answered by done once commands can be contained
	kindSettle    kind = "settle"    // no answer
	kindStop      kind = "stop"      // answered by done once the command has ended
	kindList      kind = "list"      // answered by done
)

// What a supervisor sends.
const (
	kindWelcome kind = "welcome"
	kindDone    kind = "done"
	kindEnded   kind = "ended"
)

// message is every message; which fields count follows from the kind.
type message struct {
	Kind kind `json:"kind"`
	// ID pairs an answer with its question.
	ID uint64 `json:"id,omitempty"`
	// Name is the launch that is meant.
	Name    string        `json:"name,omitempty"`
	Hello   *hello        `json:"hello,omitempty"`
	Welcome *welcome      `json:"welcome,omitempty"`
	Task    string        `json:"task,omitempty"`
	Launch  *shell.Launch `json:"launch,omitempty"`
	// Work is the id that a demoted command gets.
	Work string `json:"work,omitempty"`
	// Nonce, if set, must be the command's.
	Nonce    string        `json:"nonce,omitempty"`
	Reason   shell.Reason  `json:"reason,omitempty"`
	Started  time.Time     `json:"started,omitzero"`
	Exit     *shell.Exit   `json:"exit,omitempty"`
	Output   *shell.Output `json:"output,omitempty"`
	Commands []Command     `json:"commands,omitempty"`
	// Containment comes once to each runtime, with the answer to a start: what
	// was seen enforced on a command.
	Containment *containment.Receipt `json:"containment,omitempty"`
	Error       *wireError           `json:"error,omitempty"`
}

// hello opens a connection.
type hello struct {
	Protocol int    `json:"protocol"`
	Build    string `json:"build"`
	Role     Role   `json:"role"`
	PID      int    `json:"pid"`
	// Session describes whose commands the runtime will start.
	Session Session `json:"session,omitzero"`
	// Back says that the runtime was connected to this session's supervisor
	// before. It still waits for the launches that are Known, and has dealt with
	// all others. Of a new runtime every launch in the journal is an orphan.
	Back  bool     `json:"back,omitempty"`
	Known []string `json:"known,omitempty"`
	// Containment is the profile of the commands that the runtime will start.
	Containment *containment.Profile `json:"containment,omitempty"`
}

// welcome answers a hello.
type welcome struct {
	Protocol int    `json:"protocol"`
	Build    string `json:"build"`
	PID      int    `json:"pid"`
	// Note is something that the operator should know.
	Note string `json:"note,omitempty"`
	// Refused says why the peer is sent away.
	Refused string `json:"refused,omitempty"`
	// Owner is the pid of the runtime that is connected already.
	Owner int `json:"owner,omitempty"`
}

// Session is whose commands a supervisor runs, for the durable records.
type Session struct {
	ID       string `json:"id"`
	Capsule  string `json:"capsule"`
	OwnerUID int    `json:"owner_uid"`
	// Workdir is the session's working directory, by its real path.
	Workdir string `json:"workdir"`
}

// Command is a command that a supervisor has, for the operator.
type Command struct {
	Launch string `json:"launch"`
	Work   string `json:"work,omitempty"`
	// Text is cut as reports have it.
	Text     string        `json:"text"`
	Identity jobs.Identity `json:"identity"`
	Started  time.Time     `json:"started"`
	Output   *shell.Output `json:"output,omitempty"`
	Ended    bool          `json:"ended,omitempty"`
}
