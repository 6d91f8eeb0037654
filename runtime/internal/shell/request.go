package shell

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// MaxArgument is the longest command text or argument, in bytes. It is the
	// kernel's limit on one string, less its closing NUL.
	MaxArgument = 131071
	// MaxArguments is more than any kernel takes of arguments or variables, in
	// bytes, each with its NUL and its pointer: Linux stops at three quarters of
	// 8 MiB, however large the stack may get.
	MaxArguments = 6 << 20
	// MaxRequest is the longest request, in bytes; the text for standard input
	// is most of a long one.
	MaxRequest = 16 << 20
)

// shells are the binaries that get a command text with -c. All others get its
// words.
var shells = []string{"bash", "sh", "zsh", "fish", "dash", "ksh"}

// A Request is what a guest asks for.
type Request struct {
	// Binary is a name from the allow list.
	Binary string
	// Command is the text as written, if Args is nil.
	Command string
	// Args are the arguments behind the binary's own name, if not nil.
	Args []string
	// Env are variables to set, by ascending name.
	Env []Variable
	// Stdin is the text on standard input; nil stands for none.
	Stdin []byte
	// Cwd is a path inside the workdir; empty stands for the workdir itself.
	Cwd string
	// Timeout is the longest runtime; zero stands for the manifest's.
	Timeout time.Duration
	// Background asks for demotion at once.
	Background bool
	// LogPath is a path inside the workdir for a copy of the full log. It comes
	// beside the JSON; nil stands for none.
	LogPath *string
}

// A Variable is one variable of an environment.
type Variable struct{ Name, Value string }

// A FieldError says what is wrong with a field of a request.
type FieldError struct{ Field, Problem string }

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

func fieldError(field, format string, args ...any) error {
	return &FieldError{field, fmt.Sprintf(format, args...)}
}

// Parse reads a request. Whatever is wrong with it is a [*FieldError] that names
// the field; "data" stands for the whole.
func Parse(data []byte) (Request, error) {
	if len(data) > MaxRequest {
		return Request{}, fieldError("data", "%d bytes, the limit is %d", len(data), MaxRequest)
	}
	if !utf8.Valid(data) {
		return Request{}, fieldError("data", "not valid UTF-8")
	}
	if err := checkJSON("data", data); err != nil {
		return Request{}, err
	}
	p := parser{seen: map[string]bool{}}
	if err := eachMember("data", data, p.member); err != nil {
		return Request{}, err
	}
	return p.request, p.check()
}

type parser struct {
	request Request
	seen    map[string]bool
}

// member reads one field of the request.
func (p *parser) member(name string, raw []byte) (err error) {
	r := &p.request
	p.seen[name] = true
	switch name {
	case "binary":
		r.Binary, err = parseString(name, raw)
	case "command":
		r.Command, err = parseString(name, raw)
	case "args":
		r.Args, err = parseStrings(name, raw)
	case "env":
		r.Env, err = parseEnv(name, raw)
	case "stdin":
		var text string
		text, err = parseString(name, raw)
		r.Stdin = []byte(text)
	case "cwd":
		r.Cwd, err = parseString(name, raw)
	case "timeout_secs":
		r.Timeout, err = parseSeconds(name, raw)
	case "background":
		r.Background, err = parseBool(name, raw)
	default:
		err = fieldError(quoteField(name), "unknown field")
	}
	return err
}

// check looks at what is right or wrong whatever the policy is.
func (p *parser) check() error {
	r := &p.request
	switch {
	case !p.seen["binary"]:
		return fieldError("binary", "missing")
	case p.seen["command"] && p.seen["args"]:
		return fieldError("args", "given together with command; one of the two is needed")
	case !p.seen["command"] && !p.seen["args"]:
		return fieldError("command", "missing, and so is args; one of the two is needed")
	case p.seen["command"] && strings.TrimSpace(r.Command) == "":
		return fieldError("command", "empty")
	case p.seen["cwd"]:
		if err := checkPath("cwd", r.Cwd); err != nil {
			return err
		}
	}
	if err := checkArgument("binary", r.Binary); err != nil {
		return err
	}
	if err := checkArgument("command", r.Command); err != nil {
		return err
	}
	for i, arg := range r.Args {
		if err := checkArgument(fmt.Sprintf("args[%d]", i), arg); err != nil {
			return err
		}
	}
	return nil
}

// checkArgument refuses what the kernel cannot pass on.
func checkArgument(field, s string) error {
	if len(s) > MaxArgument {
		return fieldError(field, "%d bytes, the limit is %d", len(s), MaxArgument)
	}
	if i := strings.IndexByte(s, 0); i >= 0 {
		return fieldError(field, "a NUL byte at offset %d of %d bytes", i, len(s))
	}
	return nil
}

// argumentSize is how much of the kernel's room strings take together.
type argumentSize int

// add counts a string of n bytes. It refuses early what could never be passed on,
// so that a list of millions costs no more than its first part.
func (s *argumentSize) add(field string, n int) error {
	if *s += argumentSize(n + 9); *s > MaxArguments {
		return fieldError(field, "more than %d bytes together, which no system passes on", MaxArguments)
	}
	return nil
}

// checkPath refuses what is not a path inside the workdir by its very form.
func checkPath(field, path string) error {
	switch {
	case path == "":
		return fieldError(field, "empty")
	case strings.IndexByte(path, 0) >= 0:
		return fieldError(field, "a NUL byte")
	case len(path) > 4095:
		return fieldError(field, "%d bytes, the limit is 4095", len(path))
	case filepath.IsAbs(path):
		return fieldError(field, "%s is absolute; a path inside the workdir is needed", Quote(path))
	case !filepath.IsLocal(path):
		return fieldError(field, "%s leaves the workdir", Quote(path))
	}
	return nil
}

func parseSeconds(field string, raw []byte) (time.Duration, error) {
	secs, err := parseNumber(field, raw)
	if err != nil {
		return 0, err
	}
	if !(secs > 0) {
		return 0, fieldError(field, "%s; more than 0 is needed", raw)
	}
	return time.Duration(min(secs*float64(time.Second), math.MaxInt64/2)), nil
}

func parseEnv(field string, raw []byte) ([]Variable, error) {
	var env []Variable
	var total argumentSize
	err := eachMember(field, raw, func(name string, raw []byte) error {
		value, err := parseString(field+"."+quoteField(name), raw)
		if err != nil {
			return err
		}
		env = append(env, Variable{name, value})
		return total.add(field, len(name)+1+len(value))
	})
	slices.SortFunc(env, func(a, b Variable) int { return strings.Compare(a.Name, b.Name) })
	return env, err
}

// quoteField shows a name that a guest chose.
func quoteField(name string) string { return Quote(cut(name, 64)) }
