package capsule

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	maxMemory      = 4 << 30
	minMemory      = 64 << 10
	maxCompute     = 24 * time.Hour
	maxQueueDepth  = 1_000_000
	maxGraceSecs   = 86_400
	maxRuntimeSecs = 30 * 86_400
	maxRunning     = 10_000
)

// ownEnv begins the names of what the runtime tells a guest in its environment:
// a manifest cannot say for it what a task is and how far it is trusted.
const ownEnv = "MURMUR_TASK_"

var (
	namePattern    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)
	versionPattern = regexp.MustCompile(`^[0-9A-Za-z.+-]{1,64}$`)
	envPattern     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	namesPattern   = regexp.MustCompile(`^[A-Za-z0-9_*]+$`)
)

// Validate checks every rule that the documentation of the fields tells. It
// returns an [*Error] for the first field that breaks one.
func (m *Manifest) Validate() error {
	for _, check := range []func() *Error{
		m.checkIdentity, m.Guest.check, m.Capabilities.Shell.check, m.Capabilities.check, m.Lifecycle.check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Manifest) checkIdentity() *Error {
	if m.Name == "" {
		return wrong("name", "it is required")
	}
	if !namePattern.MatchString(m.Name) {
		return wrong("name", "up to 64 lowercase letters, digits, '-', '_' and '.', the first a letter or a digit, got %s", quote(m.Name))
	}
	if !versionPattern.MatchString(m.Version) {
		return wrong("version", "up to 64 letters, digits, '.', '-' and '+', got %s", quote(m.Version))
	}
	return nil
}

func (g *Guest) check() *Error {
	if err := checkGuestPath(g.Path); err != nil {
		return err
	}
	for i, arg := range g.Args {
		if strings.ContainsRune(arg, 0) {
			return wrong(item("guest.args", i), "it contains a NUL byte")
		}
	}
	for _, name := range sortedKeys(g.Env) {
		if !envPattern.MatchString(name) {
			return wrong("guest.env", "names are letters, digits and '_', the first no digit, got %s", quote(name))
		}
		if strings.HasPrefix(name, ownEnv) {
			return wrong("guest.env", "names that begin with %s are the runtime's own, got %s", ownEnv, quote(name))
		}
		if strings.ContainsRune(g.Env[name], 0) {
			return wrong("guest.env."+name, "it contains a NUL byte")
		}
	}
	if g.Memory < minMemory || g.Memory > maxMemory {
		return wrong("guest.memory", "from 64KiB to 4GiB, got %d bytes", g.Memory)
	}
	if g.Compute < 0 || g.Compute > maxCompute {
		return wrong("guest.compute_secs", "more than 0, up to %d, got %v", int(maxCompute.Seconds()), g.Compute.Seconds())
	}
	return nil
}

func checkGuestPath(p string) *Error {
	const field = "guest.path"
	switch {
	case p == "":
		return wrong(field, "it is required")
	case strings.ContainsRune(p, 0):
		return wrong(field, "it contains a NUL byte")
	case strings.Contains(p, `\`):
		return wrong(field, "the folders of a path are separated by slashes, got %s", quote(p))
	case path.IsAbs(p):
		return wrong(field, "a path relative to the manifest's folder, got %s", quote(p))
	case p == ".." || strings.HasPrefix(path.Clean(p), "../") || path.Clean(p) == "..":
		return wrong(field, "a path inside the manifest's folder, got %s", quote(p))
	case path.Clean(p) == ".":
		return wrong(field, "a file, got the manifest's own folder")
	}
	return nil
}

func (s *Shell) check() *Error {
	for i, name := range s.Allow {
		field := item("capabilities.shell.allow", i)
		if err := checkBinary(field, name); err != nil {
			return err
		}
		if slices.Contains(s.Allow[:i], name) {
			return wrong(field, "%s is already in the list", quote(name))
		}
	}
	for i, name := range s.BaselineEnv {
		if !envPattern.MatchString(name) {
			return wrong(item("capabilities.shell.baseline_env", i), "the name of a variable, got %s", quote(name))
		}
	}
	if err := checkNames("capabilities.shell.strip_env", s.StripEnv); err != nil {
		return err
	}
	return checkNames("capabilities.shell.allow_env", s.AllowEnv)
}

func checkNames(field string, names []string) *Error {
	for i, name := range names {
		if !namesPattern.MatchString(name) {
			return wrong(item(field, i), "the name of a variable, in which '*' stands for any text, got %s", quote(name))
		}
	}
	return nil
}

func checkBinary(field, name string) *Error {
	bad := func(r rune) bool { return r == '/' || r == '\\' || r <= ' ' || r == 0x7f }
	if name == "" || name == "." || name == ".." || len(name) > 255 || strings.ContainsFunc(name, bad) {
		return wrong(field, "the bare name of a binary, such as bash, got %s", quote(name))
	}
	return nil
}

func (l *Lifecycle) check() *Error {
	if err := oneOf("lifecycle.task_acceptance", l.TaskAcceptance, AcceptNone, AcceptSingle, AcceptQueue); err != nil {
		return err
	}
	if err := oneOf("lifecycle.after_task", l.AfterTask, AfterExit, AfterSleep); err != nil {
		return err
	}
	if l.AfterTask == AfterSleep && l.TaskAcceptance != AcceptQueue {
		return wrong("lifecycle.after_task", "sleep needs task_acceptance: queue, got %s", l.TaskAcceptance)
	}
	if g := l.ShellGraceSecs; math.IsNaN(g) || g < 0 || g > maxGraceSecs {
		return wrong("lifecycle.shell_grace_secs", "from 0 to %d, got %v", maxGraceSecs, g)
	}
	for _, n := range []struct {
		field      string
		value, max int
	}{
		{"lifecycle.queue_depth", l.QueueDepth, maxQueueDepth},
		{"lifecycle.shell_max_runtime_secs", l.ShellMaxRuntimeSecs, maxRuntimeSecs},
		{"lifecycle.shell_max_running", l.ShellMaxRunning, maxRunning},
	} {
		if n.value < 1 || n.value > n.max {
			return wrong(n.field, "from 1 to %d, got %d", n.max, n.value)
		}
	}
	return nil
}

func oneOf(field, got string, want ...string) *Error {
	if slices.Contains(want, got) {
		return nil
	}
	return wrong(field, "one of %s, got %s", strings.Join(want, ", "), quote(got))
}

// Warnings returns what is allowed but is probably not meant, one line each.
func (m *Manifest) Warnings() []string {
	var w []string
	l := m.Lifecycle
	if l.TaskAcceptance == AcceptNone {
		w = append(w, "lifecycle.task_acceptance: none takes no task from outside, so this guest is never called")
	} else if l.ShellDetach && len(m.Capabilities.Shell.Allow) > 0 && l.AfterTask != AfterSleep {
		w = append(w, fmt.Sprintf("a command that is demoted can never report back: with lifecycle.task_acceptance: %s and "+
			"lifecycle.after_task: %s the session ends first; use task_acceptance: queue with after_task: sleep, "+
			"or shell_detach: false", l.TaskAcceptance, l.AfterTask))
	}
	if len(m.Capabilities.Shell.Allow) == 0 {
		w = append(w, "capabilities.shell.allow is empty, so every command of the guest is denied")
	}
	return w
}

func wrong(field, format string, args ...any) *Error {
	return &Error{Field: field, What: fmt.Sprintf(format, args...)}
}

func item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// quote shows a text of the file in an error: in one line, and not too long.
func quote(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return fmt.Sprintf("%q…", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
