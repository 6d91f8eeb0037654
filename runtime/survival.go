package runtime

import (
	"fmt"

	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// warnUnsupervised tells the operator where commands will not do what the
// manifest says.
func (s *Session) warnUnsupervised() {
	wanted := s.capsule.manifest.Lifecycle.ShellSurvives && s.opts.Shell == nil
	if note := survivalNote(wanted, supervisor.Supported); note != "" {
		fmt.Fprintf(s.operator, "[capsule-runtime] %s\n", note)
	}
}

func survivalNote(wanted, supported bool) string {
	if !wanted || supported {
		return ""
	}
	return "this system has no supervisor for commands: one that runs in the background does not survive the runtime"
}
