// Package capsule reads the manifest of a capsule, murmur.yaml: which guest it
// is, what it may do, and how it takes tasks.
//
//	name: builder
//	version: 1.2.0
//	guest:
//	  path: build/builder.wasm
//	capabilities:
//	  shell:
//	    allow: [bash, git]
//	lifecycle:
//	  task_acceptance: queue
//	  after_task: sleep
//
// Reading is strict: a key that is not known, a key that comes twice, a value of
// another type or out of range is an error that names the line, the column and
// the field. What is left out has the default that the field's documentation
// tells.
package capsule

import (
	"path/filepath"
	"time"
)

// FileName is the name of the manifest in a capsule's folder.
const FileName = "murmur.yaml"

// A Manifest says what a capsule is.
type Manifest struct {
	// Name identifies the capsule: work that outlives a session is delivered to
	// the next session of the same name. Up to 64 lowercase letters, digits,
	// '-', '_' and '.', the first a letter or a digit. Required.
	Name string
	// Version is for people and traces: up to 64 letters, digits, '.', '-' and
	// '+'. Defaults to 0.0.0.
	Version string
	// Guest is the code.
	Guest Guest
	// Capabilities are what the guest may do.
	Capabilities Capabilities
	// Lifecycle is how a session takes tasks and runs commands.
	Lifecycle Lifecycle

	// Dir is the folder of the manifest, to which guest.path is relative. It is
	// no key of the file; [Load] sets it.
	Dir string
}

// Guest is the manifest's section "guest".
type Guest struct {
	// Path is the WebAssembly file: relative to the manifest's folder and
	// inside it, with slashes. Required.
	Path string
	// Args are the guest's command-line arguments; the capsule's name, as its
	// first, is not among them. Defaults to none.
	Args []string
	// Env is the guest's whole environment, beside what the runtime adds for a
	// plain command; no name may begin with MURMUR_TASK_. Defaults to none.
	Env map[string]string
	// Memory is the most memory the guest may have, in bytes, from 64 KiB to
	// 4 GiB. In the file it is a number of bytes or a text such as "512MiB"
	// (units KiB, MiB, GiB). Defaults to 512 MiB.
	Memory uint64
	// Compute is how long the guest itself may compute for one task; time that
	// it waits for a command does not count. The key is compute_secs, a number
	// of seconds that may have a fraction, or "none". Without the limit a guest
	// that loops for ever holds its session until that is ended. Zero stands
	// for none. Defaults to 60 s.
	Compute time.Duration
}

// Capabilities is the manifest's section "capabilities": what the commands may
// be, and what they may touch.
type Capabilities struct {
	// Shell is about the commands that the guest asks for.
	Shell Shell
	// Containment is how far commands are kept from the host: "advisory",
	// "scoped" or "sealed". It is a floor: a host that cannot give it refuses
	// the launch and says what is missing. Defaults to the best up to scoped
	// that the host gives.
	Containment string
	// Require lists dimensions that must be enforced whatever the class is, or
	// else the launch is refused: "filesystem", "process_tree", "network",
	// "memory", "process_count", "wall_clock". Defaults to none.
	Require []string
	// Filesystem is what commands may reach beyond the workdir and the
	// system's programs.
	Filesystem Filesystem
	// Network is what commands may reach over sockets: "none", or "host" for
	// all that the host can. Defaults to none. Lists of hosts do not exist yet.
	Network string
	// Resources bound what a command may use up.
	Resources Resources
}

// The values of [Capabilities.Containment].
const (
	// ContainAdvisory sets resource limits and claims nothing else.
	ContainAdvisory = "advisory"
	// ContainScoped keeps commands on the host's root, with kernel rules on what
	// they may reach.
	ContainScoped = "scoped"
	// ContainSealed gives commands a root, a process tree and a network of their
	// own. They see the workdir as /workdir.
	ContainSealed = "sealed"
)

// The values of [Capabilities.Network].
const (
	// NetworkNone lets commands reach no host.
	NetworkNone = "none"
	// NetworkHost lets commands reach what the host can.
	NetworkHost = "host"
)

// Filesystem is the manifest's section "capabilities.filesystem". Its paths are
// absolute or begin with "~/", and must exist when a session starts. None may
// hold the runtime's state, or lie in it; the directories where a home usually
// has its keys are never granted by the way, but by name alone.
type Filesystem struct {
	// Read grants reading a file or a tree, and running what is in it. Defaults
	// to none.
	Read []string
	// Write grants reading, changing and creating in a tree. Defaults to none.
	Write []string
	// WorkdirExec says whether files in the workdir may be run. Only sealed can
	// really withhold it. Defaults to true: builds run what they build.
	WorkdirExec bool
}

// Resources is the manifest's section "capabilities.resources". Each limit is
// one command's, unless it says otherwise; none may be zero. Bytes are written
// as a number or a text such as "512MiB" (units KiB, MiB, GiB).
type Resources struct {
	// MaxProcesses bounds the processes and threads of a command. Where the host
	// has no control group for it, nothing enforces it, and the receipt says so.
	// Defaults to 128.
	MaxProcesses int64
	// MaxOpenFiles bounds the open files of each process. Defaults to 1024.
	MaxOpenFiles int64
	// MaxFileSizeBytes bounds each file that a process writes. Defaults to 4 GiB.
	MaxFileSizeBytes int64
	// CPUSeconds bounds the processor time of each process, in seconds. Defaults
	// to 3600.
	CPUSeconds int64
	// MemoryBytes bounds the address space of each process. Zero stands for no
	// limit, the default: such a limit stops runtimes that reserve far more than
	// they use, as those of Java and JavaScript do.
	MemoryBytes int64
	// CgroupMemoryBytes bounds the memory of a command as a whole, where the host
	// has a control group for it. Defaults to 4 GiB.
	CgroupMemoryBytes int64
	// CgroupPidsMax bounds the processes and threads of a command as a whole,
	// where the host has a control group for it. Defaults to 256.
	CgroupPidsMax int64
	// WorkdirMaxBytes bounds what the workdir holds when a command is started;
	// a fuller one refuses the command. Defaults to 10 GiB.
	WorkdirMaxBytes int64
	// MaxOutputBytes bounds what is kept of a command's output; the rest is
	// counted and dropped. Defaults to 256 MiB.
	MaxOutputBytes int64
}

// Shell is the manifest's section "capabilities.shell".
type Shell struct {
	// Allow lists the binaries that the guest may ask for, by bare name. It is
	// a rule for what may be asked, not a boundary: an allowed shell can start
	// anything. Defaults to none: every command is denied.
	Allow []string
	// BaselineEnv names variables that every command gets from the runtime's
	// own environment, beside the usual few (locale, time zone, user). One whose
	// name says that it holds a credential is withheld all the same. Defaults to
	// none.
	BaselineEnv []string
	// StripEnv names variables that no command gets from the runtime's
	// environment, beside those whose name says that they hold a credential. A
	// '*' stands for any text. Defaults to none.
	StripEnv []string
	// AllowEnv names variables that a request may set although they can make a
	// program run other code, such as LD_PRELOAD or NODE_OPTIONS. A '*' stands
	// for any text. Defaults to none.
	AllowEnv []string
}

// The values of [Lifecycle.TaskAcceptance].
const (
	// AcceptNone takes no task from outside.
	AcceptNone = "none"
	// AcceptSingle takes one task, ever.
	AcceptSingle = "single"
	// AcceptQueue takes tasks while the queue has room.
	AcceptQueue = "queue"
)

// The values of [Lifecycle.AfterTask].
const (
	// AfterExit ends the session when there is no further task.
	AfterExit = "exit"
	// AfterSleep keeps the session until it is ended.
	AfterSleep = "sleep"
)

// Lifecycle is the manifest's section "lifecycle".
type Lifecycle struct {
	// TaskAcceptance says which tasks the session takes: "none", "single" or
	// "queue". Defaults to "single".
	TaskAcceptance string
	// AfterTask says what the session does after a task: "exit" or, only where
	// tasks are queued, "sleep". Defaults to "exit".
	AfterTask string
	// QueueDepth is how many tasks may wait, from 1 to 1,000,000, where tasks
	// are queued. Defaults to 1.
	QueueDepth int
	// ShellGraceSecs is how long a call waits for its command before the
	// command is demoted, in seconds, up to 86,400; zero demotes at once. It
	// may have a fraction. Defaults to 10.
	ShellGraceSecs float64
	// ShellMaxRuntimeSecs is how long a command may run, in seconds, from 1 to
	// 2,592,000 (30 days). Defaults to 3600.
	ShellMaxRuntimeSecs int
	// ShellMaxRunning is how many commands of a session may run at once, from 1
	// to 10,000. Defaults to 64.
	ShellMaxRunning int
	// ShellDetach says whether a command that outlives its grace is demoted.
	// If it is not, a call waits until its command ends or meets its limit.
	// Defaults to true.
	ShellDetach bool
	// ShellSurvives says whether commands are started by a supervisor that
	// outlives the runtime, where the system has one (Linux). Defaults to true.
	ShellSurvives bool
}

// Grace is how long a call waits for its command.
func (l Lifecycle) Grace() time.Duration {
	return time.Duration(l.ShellGraceSecs * float64(time.Second))
}

// MaxRuntime is how long a command may run.
func (l Lifecycle) MaxRuntime() time.Duration {
	return time.Duration(l.ShellMaxRuntimeSecs) * time.Second
}

// Default returns a manifest with every default and no name or guest.
func Default() Manifest {
	return Manifest{
		Version: "0.0.0",
		Guest:   Guest{Memory: 512 << 20, Compute: time.Minute},
		Capabilities: Capabilities{
			Filesystem: Filesystem{WorkdirExec: true},
			Network:    NetworkNone,
			Resources:  defaultResources(),
		},
		Lifecycle: Lifecycle{
			TaskAcceptance:      AcceptSingle,
			AfterTask:           AfterExit,
			QueueDepth:          1,
			ShellGraceSecs:      10,
			ShellMaxRuntimeSecs: 3600,
			ShellMaxRunning:     64,
			ShellDetach:         true,
			ShellSurvives:       true,
		},
	}
}

func defaultResources() Resources {
	return Resources{
		MaxProcesses:      128,
		MaxOpenFiles:      1024,
		MaxFileSizeBytes:  4 << 30,
		CPUSeconds:        3600,
		CgroupMemoryBytes: 4 << 30,
		CgroupPidsMax:     256,
		WorkdirMaxBytes:   10 << 30,
		MaxOutputBytes:    256 << 20,
	}
}

// GuestPath is the path of the guest's file.
func (m *Manifest) GuestPath() string {
	return filepath.Join(m.Dir, filepath.FromSlash(m.Guest.Path))
}
