package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// scopePatience bounds the talk with the service manager.
const scopePatience = 3 * time.Second

// Escaping looks at how this process is managed.
func Escaping() Escape {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return Escape{Possible: true}
	}
	return escaping(string(data), "/run/systemd/system", exec.LookPath)
}

func escaping(cgroup, running string, find func(string) (string, error)) Escape {
	var e Escape
	if e.Service, e.user = serviceOf(cgroup); e.Service == "" {
		return Escape{Possible: true}
	}
	if _, err := os.Stat(running); err != nil {
		e.Why = "systemd does not run here"
		return e
	}
	tool, err := find("busctl")
	if err != nil {
		e.Why = "busctl, by which systemd is asked, is not installed"
		return e
	}
	e.tool, e.Possible = tool, true
	return e
}

// move asks systemd for a scope that holds the supervisor, so that it and what
// it starts from then on are no part of the service any more.
func (e Escape) move(pid int, dir string) error {
	if e.Service == "" {
		return nil
	}
	if !e.Possible {
		return fmt.Errorf("the supervisor stays inside %s: %s", e.Service, e.Why)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scopePatience)
	defer cancel()
	// The command is a child of ours and waited for by its pid.
	cmd := exec.CommandContext(ctx, e.tool, e.call(pid, dir)...)
	cmd.WaitDelay = scopePatience
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the supervisor stays inside %s: systemd: %w: %s", e.Service, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// call is the request, in the words of busctl: org.freedesktop.systemd1(5),
// StartTransientUnit.
func (e Escape) call(pid int, dir string) []string {
	bus := "--system"
	if e.user {
		bus = "--user"
	}
	name := fmt.Sprintf("murmur-%s-%d.scope", unitName(filepath.Base(dir)), pid)
	return []string{
		bus, "call", "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
		"StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail",
		"3",
		"PIDs", "au", "1", strconv.Itoa(pid),
		"Description", "s", "Supervisor of background commands",
		"CollectMode", "s", "inactive-or-failed",
		"0",
	}
}

// unitName leaves of a directory's name what a unit may be called.
func unitName(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, s)
}

// ownService names the service that this process is in, for the journal: the
// next supervisor can then say what this one died of.
func ownService() string {
	data, err := os.ReadFile("/proc/self/cgroup")
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	unit, _ := serviceOf(string(data))
	return unit
}

// killedWith is what is said of a supervisor that died inside a service.
func killedWith(service string, commands int) string {
	return fmt.Sprintf("the last supervisor was killed inside %s while it had %d command(s): stopping that service ends "+
		"everything in it; KillMode=process in its unit, or a scope of the supervisor's own, prevents that", service, commands)
}
