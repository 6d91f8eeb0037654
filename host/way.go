package host

// A Way is how a guest takes its work.
type Way uint8

const (
	// Handler: the guest exports murmur:task/handler and is called once a task.
	Handler Way = iota + 1
	// Looper: the guest exports murmur:capsule/run and takes tasks from
	// murmur:task/queue, which it imports.
	Looper
	// Command: the guest is a plain WASI command, and each task is one run of
	// it.
	Command
)

// String is the way's name in messages.
func (w Way) String() string { return [...]string{"none", "handler", "looper", "command"}[w] }

// Way tells how the guest takes its work, by what it exports. The error says
// what the guest exports that no way knows, or which of its exports has another
// shape than it should.
func (g *Guest) Way() (Way, error) { panic("not yet") }
