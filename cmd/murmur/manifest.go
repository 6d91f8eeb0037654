package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/murmur-capsule/murmur/capsule"
)

// manifestFlags say what a manifest would, for a bare module that has none, and
// instead of it for one that has.
type manifestFlags struct {
	name       string
	allow      []string
	guestArgs  []string
	guestEnv   map[string]string
	memory     uint64
	compute    time.Duration
	accept     string
	afterTask  string
	queueDepth int
	grace      time.Duration
	maxRuntime time.Duration
	maxRunning int
	detach     bool
	survives   bool

	containment string
	require     []string
	network     string
	read, write []string
}

func (f *manifestFlags) register(flags *pflag.FlagSet) {
	flags.DurationVar(&f.grace, "grace", 0, "how long a call waits for its command before the command is demoted")
	flags.StringSliceVar(&f.allow, "allow", nil, "binaries that the guest may ask for")
	flags.StringArrayVar(&f.guestArgs, "guest-arg", nil, "an argument of the guest; may be repeated")
	flags.StringToStringVar(&f.guestEnv, "guest-env", nil, "environment of the guest, as NAME=value")
	flags.StringVar(&f.name, "name", "", "the capsule's name")
	flags.Uint64Var(&f.memory, "memory", 0, "the most memory the guest may have, in bytes")
	flags.DurationVar(&f.compute, "compute", 0, "how long the guest itself may compute for one task; 0 for no limit")
	flags.StringVar(&f.accept, "accept", "", "which tasks the session takes: none, single or queue")
	flags.StringVar(&f.afterTask, "after-task", "", "what the session does after a task: exit or sleep")
	flags.IntVar(&f.queueDepth, "queue-depth", 0, "how many tasks may wait")
	flags.DurationVar(&f.maxRuntime, "max-runtime", 0, "how long a command may run, in whole seconds")
	flags.IntVar(&f.maxRunning, "max-running", 0, "how many commands may run at once")
	flags.BoolVar(&f.detach, "detach", true, "whether a command that outlives its grace is demoted")
	flags.StringVar(&f.containment, "containment", "", "how far commands are kept from the host, at least: advisory, scoped or sealed")
	flags.StringSliceVar(&f.require, "require", nil, "dimensions of containment that must be enforced")
	flags.StringVar(&f.network, "network", "", "what commands may reach: none or host")
	flags.StringArrayVar(&f.read, "read", nil, "a file or directory that commands may read; may be repeated")
	flags.StringArrayVar(&f.write, "write", nil, "a directory that commands may write to; may be repeated")
	flags.BoolVar(&f.survives, "survives", true, "whether a demoted command outlives the session, under a supervisor")
}

// load reads the manifest at path, or makes one for the module at path, and
// puts in what the command line says.
func (f *manifestFlags) load(path string, flags *pflag.FlagSet) (*capsule.Manifest, error) {
	m, err := manifestAt(path)
	if err != nil {
		return nil, err
	}
	for name, set := range map[string]func(){
		"name":        func() { m.Name = f.name },
		"allow":       func() { m.Capabilities.Shell.Allow = f.allow },
		"guest-arg":   func() { m.Guest.Args = f.guestArgs },
		"guest-env":   func() { m.Guest.Env = f.guestEnv },
		"memory":      func() { m.Guest.Memory = f.memory },
		"compute":     func() { m.Guest.Compute = f.compute },
		"accept":      func() { m.Lifecycle.TaskAcceptance = f.accept },
		"after-task":  func() { m.Lifecycle.AfterTask = f.afterTask },
		"queue-depth": func() { m.Lifecycle.QueueDepth = f.queueDepth },
		"grace":       func() { m.Lifecycle.ShellGraceSecs = f.grace.Seconds() },
		"max-runtime": func() { m.Lifecycle.ShellMaxRuntimeSecs = int(f.maxRuntime.Seconds()) },
		"max-running": func() { m.Lifecycle.ShellMaxRunning = f.maxRunning },
		"detach":      func() { m.Lifecycle.ShellDetach = f.detach },
		"survives":    func() { m.Lifecycle.ShellSurvives = f.survives },
		"containment": func() { m.Capabilities.Containment = f.containment },
		"require":     func() { m.Capabilities.Require = f.require },
		"network":     func() { m.Capabilities.Network = f.network },
		"read":        func() { m.Capabilities.Filesystem.Read = f.read },
		"write":       func() { m.Capabilities.Filesystem.Write = f.write },
	} {
		if flags.Changed(name) {
			set()
		}
	}
	return m, nil
}

// manifestAt is the manifest of a folder, of a file, or of a bare module.
func manifestAt(path string) (*capsule.Manifest, error) {
	if path == "" {
		return nil, usage("", "the path of the capsule is empty")
	}
	if !isModule(path) {
		return capsule.Load(path)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	m := capsule.Default()
	m.Name, m.Guest.Path, m.Dir = nameOf(path), filepath.Base(abs), filepath.Dir(abs)
	return &m, nil
}

// isModule says whether path is that of a WebAssembly file, by its name or by
// how it begins.
func isModule(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".wasm") {
		return true
	}
	// A pipe would be waited for: only a regular file is opened.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	const magic = "\x00asm"
	head := make([]byte, len(magic))
	_, err = io.ReadFull(file, head)
	return err == nil && string(head) == magic
}

// nameOf makes a capsule's name of a file's.
func nameOf(path string) string {
	base := filepath.Base(path)
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune("-_.", r):
			return r
		}
		return '-'
	}, strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base))))
	name = strings.TrimLeft(name, "-_.")
	if name == "" {
		return "guest"
	}
	return name[:min(len(name), 64)]
}
