package guest

import "encoding/json"

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

// Input encodes the request as the input of the tool.
func (r Request) Input() Input {
	data, err := json.Marshal(r)
	if err != nil {
		// Only a timeout that is not a number has no JSON. The runtime then
		// refuses the request, with this as its text.
		data = []byte(err.Error())
	}
	text := string(data)
	in := Input{Data: &text}
	if r.LogPath != "" {
		in.LogPath = &r.LogPath
	}
	return in
}
