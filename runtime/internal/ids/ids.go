// Package ids mints the ids of sessions, tasks, contexts, messages and work.
//
// An id is a kind's prefix and a version 7 UUID (RFC 9562) as 32 lowercase
// hexadecimal digits, so that ids of one kind sort by the time of their making
// and are safe as file names.
package ids

import (
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
)

// A Kind is the prefix that ids of one kind share.
type Kind string

// The kinds.
const (
	Session Kind = "ses_"
	Task    Kind = "tsk_"
	Context Kind = "ctx_"
	Message Kind = "msg_"
	Work    Kind = "wrk_"
)

const digits = 32

// New mints an id. Within a process each is greater than the one before.
func (k Kind) New() string {
	// NewV7 fails only where the system's random source does, and crypto/rand
	// ends the process itself in that case.
	id := uuid.Must(uuid.NewV7())
	return string(k) + hex.EncodeToString(id[:])
}

// Valid says whether s is the kind's prefix and 32 lowercase hexadecimal
// digits. What is valid is safe as a file name.
func (k Kind) Valid(s string) bool {
	rest, found := strings.CutPrefix(s, string(k))
	return found && len(rest) == digits && strings.Trim(rest, "0123456789abcdef") == ""
}
