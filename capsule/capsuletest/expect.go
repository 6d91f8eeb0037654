package capsuletest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/murmur-capsule/murmur/runtime/provenance"
)

// ExpectFile is the name of the expectation file in a capsule's folder.
const ExpectFile = "expect.yaml"

// An Expectation says what a capsule must do: which tasks it gets in one
// session, one after the other, and what comes of each.
//
//	tasks:
//	- name: a long command is demoted
//	  message: sleep 1; echo done
//	  result:
//	    json: {status: passed, metadata: {work_id: {$matches: ^wrk_}}}
//	  completions:
//	  - result: {contains: ["status: ok"]}
//	files:
//	  logs/wrk_*.log: {contains: [done]}
type Expectation struct {
	// GraceSecs replaces the manifest's lifecycle.shell_grace_secs.
	GraceSecs *float64 `yaml:"grace_secs"`
	// TimeoutSecs bounds the whole run. Defaults to 60.
	TimeoutSecs float64 `yaml:"timeout_secs"`
	// Exit is the exit code that a run of these tasks has: 0 if all ended well,
	// completions included, else 1. It is not checked if it is left out.
	Exit *int `yaml:"exit"`
	// Tasks are submitted in this order, each when the one before and its
	// completions have ended.
	Tasks []Task `yaml:"tasks"`
	// Files are looked at in the workdir at the end. A name is a pattern of
	// path.Match that has to match exactly one file.
	Files map[string]Text `yaml:"files"`
}

// A Task is one message and what must come of it.
type Task struct {
	// Name is the task's title in reports. Defaults to its message.
	Name string `yaml:"name"`
	// Message is what the guest gets.
	Message string `yaml:"message"`
	// Origin is "user", "event" or another origin. Defaults to "user".
	Origin string `yaml:"origin"`
	// Outcome is what must come of the task itself.
	Outcome `yaml:",inline"`
	// Completions are what must come of the completions of the task's commands,
	// and of theirs, in the order in which they end. There must be exactly so
	// many.
	Completions []Outcome `yaml:"completions"`
}

// An Outcome is what must come of a task that has ended.
type Outcome struct {
	// Status is "ok" or "error". Defaults to "ok".
	Status string `yaml:"status"`
	// Trust is "trusted" or "untrusted". It is not checked if it is left out.
	Trust string `yaml:"trust"`
	// Result is what the result, or the error, must look like.
	Result Text `yaml:"result"`
}

// A Text is what a text must look like: every condition that is given has to
// hold.
type Text struct {
	// Equals is the whole text.
	Equals *string `yaml:"equals"`
	// Contains lists parts of the text.
	Contains []string `yaml:"contains"`
	// Lacks lists what is no part of the text.
	Lacks []string `yaml:"lacks"`
	// Matches lists regular expressions (RE2) of which each matches some of the
	// text; "." matches a newline too.
	Matches []string `yaml:"matches"`
	// JSON is what the text, read as JSON, has: an object has at least these
	// members, a list exactly these elements, anything else is equal. In place
	// of a string an object {$contains: PART} or {$matches: REGEXP} may stand.
	JSON any `yaml:"json"`
}

// LoadExpectation reads the expectation file of a capsule: path is the
// capsule's folder, or the file itself. An error about its content names the
// file, the line and the column.
func LoadExpectation(path string) (*Expectation, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, ExpectFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the expectations: %w", err)
	}
	e, err := ParseExpectation(data)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return e, nil
}

// ParseExpectation reads an expectation file. An error begins with the line and
// the column, if it has any.
func ParseExpectation(data []byte) (*Expectation, error) {
	e := &Expectation{TimeoutSecs: 60}
	if err := yaml.UnmarshalWithOptions(data, e, yaml.Strict()); err != nil {
		return nil, oneLine(err)
	}
	if err := e.validate(); err != nil {
		return nil, fmt.Errorf(" %w", err)
	}
	return e, nil
}

// oneLine makes "LINE:COLUMN: what" of an error of the YAML library's, which
// also shows the source.
func oneLine(err error) error {
	var y yaml.Error
	if !errors.As(err, &y) || y.GetToken() == nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(" " + line)
	}
	at := y.GetToken().Position
	return fmt.Errorf("%d:%d: %s", at.Line, at.Column, y.GetMessage())
}

func (e *Expectation) validate() error {
	if len(e.Tasks) == 0 {
		return errors.New("tasks: there are none")
	}
	if e.TimeoutSecs <= 0 {
		return errors.New("timeout_secs: it must be more than 0")
	}
	for i := range e.Tasks {
		if err := e.Tasks[i].validate(); err != nil {
			return fmt.Errorf("tasks[%d].%w", i, err)
		}
	}
	for name, text := range e.Files {
		if err := text.validate(); err != nil {
			return fmt.Errorf("files.%s: %w", name, err)
		}
	}
	return nil
}

func (t *Task) validate() error {
	if t.Origin == "" {
		t.Origin = provenance.User.String()
	}
	if _, err := provenance.ParseOrigin(t.Origin); err != nil {
		return fmt.Errorf("origin: %w", err)
	}
	if t.Name == "" {
		t.Name = title(t.Message)
	}
	if err := t.Outcome.validate(); err != nil {
		return err
	}
	for i := range t.Completions {
		if err := t.Completions[i].validate(); err != nil {
			return fmt.Errorf("completions[%d].%w", i, err)
		}
	}
	return nil
}

// title is a message cut to one short line.
func title(message string) string {
	line, _, more := strings.Cut(message, "\n")
	if r := []rune(line); len(r) > 60 {
		line, more = string(r[:60]), true
	}
	if more {
		line += "…"
	}
	return line
}

func (o *Outcome) validate() error {
	switch o.Status {
	case "":
		o.Status = "ok"
	case "ok", "error":
	default:
		return fmt.Errorf("status: ok or error, got %q", o.Status)
	}
	switch o.Trust {
	case "", "trusted", "untrusted":
	default:
		return fmt.Errorf("trust: trusted or untrusted, got %q", o.Trust)
	}
	if err := o.Result.validate(); err != nil {
		return fmt.Errorf("result: %w", err)
	}
	return nil
}

func (e *Expectation) timeout() time.Duration {
	return time.Duration(e.TimeoutSecs * float64(time.Second))
}
