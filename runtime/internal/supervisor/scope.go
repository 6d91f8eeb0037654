package supervisor

import "strings"

// serviceOf finds the systemd service that a process runs in by its
// /proc/PID/cgroup, and the manager that started it. A service takes everything
// in its cgroup along when it is stopped or restarted, however the processes
// have detached themselves.
func serviceOf(cgroup string) (unit string, user bool) {
	for line := range strings.Lines(cgroup) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, path, ok := strings.Cut(rest, ":")
		if !ok || controllers != "" && controllers != "name=systemd" {
			continue
		}
		for part := range strings.SplitSeq(path, "/") {
			switch {
			case strings.HasPrefix(part, "user@") && strings.HasSuffix(part, ".service"):
				user = true // The user's own manager: its units are below.
			case strings.HasSuffix(part, ".service"):
				unit = part
			case strings.HasSuffix(part, ".scope"):
				unit = ""
			}
		}
		return unit, user
	}
	return "", false
}

// Escape says whether and how supervisors get out of the way of a service
// manager.
type Escape struct {
	// Service is the systemd service that this process runs in, if any.
	Service string
	// Possible says that a supervisor can be moved to a scope of its own. If
	// there is a service and it is not, stopping the service ends the commands
	// too, unless its unit says KillMode=process.
	Possible bool
	// Why says why not.
	Why string

	user bool
	tool string
}
