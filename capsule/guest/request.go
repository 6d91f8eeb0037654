package guest

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// A Request asks for one shell command. Binary and either Command or Args are
// required; the zero value of any other field leaves it out.
type Request struct {
	// Binary is a bare name from the manifest's allow list.
	Binary string `json:"binary"`
	// Command is one string. The shells bash, sh, zsh, fish, dash and ksh get
	// it with -c; for any other binary it is split by the POSIX quoting rules,
	// without expansion.
	Command string `json:"command,omitempty"`
	// Args is an exact argument vector, without the binary's own name. An
	// empty, non-nil slice runs the binary without arguments.
	Args []string `json:"args,omitzero"`
	// Env holds variables to add or to replace.
	Env map[string]string `json:"env,omitempty"`
	// Stdin is the text on standard input.
	Stdin string `json:"stdin,omitempty"`
	// Cwd is a directory below the workdir, relative to it.
	Cwd string `json:"cwd,omitempty"`
	// TimeoutSecs is the longest the command may run, in seconds, at most what
	// the manifest allows.
	TimeoutSecs float64 `json:"timeout_secs,omitempty"`
	// Background demotes the command at once.
	Background bool `json:"background,omitempty"`

	// LogPath is a path below the workdir, relative to it, that does not exist
	// yet. It gets a copy of the whole output when the command has ended.
	LogPath string `json:"-"`
}

// Bash returns the request to run command in bash.
func Bash(command string) Request {
	return Request{Binary: "bash", Command: command}
}

// Input encodes the request as the input of the tool. Bytes that are no UTF-8
// are replaced, and a timeout that is no number is sent as null, which the
// runtime refuses.
func (r Request) Input() Input {
	data := string(r.appendJSON(nil))
	in := Input{Data: &data}
	if r.LogPath != "" {
		in.LogPath = &r.LogPath
	}
	return in
}

// appendJSON does by hand what encoding/json would: that package makes a small
// guest a fifth larger, and every guest is compiled at its first start.
func (r Request) appendJSON(b []byte) []byte {
	b = appendString(append(b, `{"binary":`...), r.Binary)
	if r.Command != "" {
		b = appendString(append(b, `,"command":`...), r.Command)
	}
	if r.Args != nil {
		b = appendList(append(b, `,"args":`...), r.Args)
	}
	if len(r.Env) > 0 {
		b = appendMap(append(b, `,"env":`...), r.Env)
	}
	if r.Stdin != "" {
		b = appendString(append(b, `,"stdin":`...), r.Stdin)
	}
	if r.Cwd != "" {
		b = appendString(append(b, `,"cwd":`...), r.Cwd)
	}
	if r.TimeoutSecs != 0 {
		b = appendNumber(append(b, `,"timeout_secs":`...), r.TimeoutSecs)
	}
	if r.Background {
		b = append(b, `,"background":true`...)
	}
	return append(b, '}')
}

func appendList(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

func appendMap(b []byte, m map[string]string) []byte {
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(appendString(b, k), ':'), m[k])
	}
	return append(b, '}')
}

func appendNumber(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
