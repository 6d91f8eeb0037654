package containment

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// readStatus asks the kernel how a process is confined.
func readStatus(pid int) (*Verified, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil, fmt.Errorf("cannot verify the command's confinement: %w", err)
	}
	return parseStatus(text), nil
}

// parseStatus reads the fields of /proc/PID/status that tell about confinement.
func parseStatus(text []byte) *Verified {
	v := &Verified{UID: -1}
	for line := range bytes.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch key {
		case "NoNewPrivs":
			v.NoNewPrivs = value == "1"
		case "Seccomp":
			v.Seccomp = value == "2"
		case "CapEff":
			v.Capabilities = value
		case "CapBnd":
			v.Bounding = value
		case "Uid":
			real, _, _ := strings.Cut(value, "\t")
			if id, err := strconv.Atoi(real); err == nil {
				v.UID = id
			}
		}
	}
	return v
}

// verify refuses a command whose confinement, as the kernel has it, is less than
// the profile says.
func (v *Verified) verify(p Profile) error {
	switch {
	case p.Seccomp && !v.NoNewPrivs:
		return fmt.Errorf("internal error: the command runs without no_new_privs")
	case p.Seccomp && !v.Seccomp:
		return fmt.Errorf("internal error: the command runs without its seccomp filter")
	case p.DropCapabilities && strings.Trim(v.Capabilities, "0") != "":
		return fmt.Errorf("internal error: the command runs with capabilities %s", v.Capabilities)
	case p.UID > 0 && v.UID != p.UID:
		return fmt.Errorf("internal error: the command runs as user %d, not %d", v.UID, p.UID)
	}
	return nil
}
