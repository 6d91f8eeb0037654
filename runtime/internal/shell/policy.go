package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// DefaultMaxOutput is how many bytes of output are kept of one command.
const DefaultMaxOutput = 256 << 20

// A Config says what a capsule's commands may be and what they get.
type Config struct {
	// Allow are the bare names of the binaries that may be asked for.
	Allow []string
	// AllowEnv are patterns for variables that a request may set although they
	// can make a program run other code.
	AllowEnv []string
	// BaselineEnv are names of variables that commands get from the host,
	// beside the usual ones.
	BaselineEnv []string
	// Host is the host's environment. Nil stands for this process's own.
	Host []string
	// Inside translates a path of the workdir into the one at which a command
	// sees it. Nil stands for no difference.
	Inside func(path string) string
	// MaxOutput is how many bytes of output are kept of one command. Defaults
	// to [DefaultMaxOutput].
	MaxOutput int64
	// MaxRuntime ends a command. Zero stands for no limit.
	MaxRuntime time.Duration
	// OutDir gets the captured streams. It lies outside every workdir.
	OutDir string
	// Path is where binaries are looked up; elements that are relative, empty
	// or in the workdir are refused. Defaults to [SearchPath] of Host.
	Path []string
	// StripEnv are patterns for names that no command gets from the host,
	// beside those of credentials.
	StripEnv []string
	// Workdir is where the commands work. It stays the caller's.
	Workdir *Workdir
	// Writable are further directories that commands may write to, by their
	// absolute real paths. No binary is taken from them.
	Writable []string
}

// A Policy turns requests into launches. It is safe for concurrent use.
type Policy struct {
	config Config
	env    []string
}

// NewPolicy checks c and prepares the workdir.
func NewPolicy(c Config) (*Policy, error) {
	if c.Host == nil {
		c.Host = os.Environ()
	}
	if c.Path == nil {
		c.Path = slices.DeleteFunc(SearchPath(c.Host), c.writable)
		if len(c.Path) == 0 {
			return nil, fmt.Errorf("commands may write to every directory that binaries are looked up in: the workdir is %s", Quote(c.Workdir.path))
		}
	}
	if c.Inside == nil {
		c.Inside = func(path string) string { return path }
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := c.Workdir.prepare(); err != nil {
		return nil, err
	}
	return &Policy{c, c.baseline(c.Path)}, nil
}

func (c *Config) check() error {
	for _, name := range c.Allow {
		if !bareName(name) {
			return fmt.Errorf("allow: %s is not the bare name of a binary", Quote(name))
		}
	}
	for _, dir := range c.Path {
		if !filepath.IsAbs(dir) || c.writable(dir) {
			return fmt.Errorf("path: %s is relative, or commands may write to it", Quote(dir))
		}
	}
	return errors.Join(checkPatterns("strip_env", c.StripEnv), checkPatterns("allow_env", c.AllowEnv))
}

func bareName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, `/\`+"\x00") && Quote(name) == name
}

// Prepare checks r and completes it to a launch of that name, for that task. A
// fault of the request is a [*FieldError]. Nothing has been started.
func (p *Policy) Prepare(r Request, name, task string) (Launch, error) {
	binary, err := p.resolve(r.Binary)
	if err != nil {
		return Launch{}, err
	}
	if err := p.config.Workdir.Check(); err != nil {
		return Launch{}, err
	}
	if err := p.config.Workdir.prepare(); err != nil {
		return Launch{}, err
	}
	l := Launch{
		Path:       binary,
		Stdin:      r.Stdin,
		MaxRuntime: p.maxRuntime(r.Timeout),
		MaxOutput:  p.config.MaxOutput,
		OutDir:     p.config.OutDir,
		Name:       name,
		Task:       task,
	}
	if l.Args, err = arguments(r); err != nil {
		return Launch{}, err
	}
	if l.Dir, err = p.config.Workdir.Dir(r.Cwd); err != nil {
		return Launch{}, err
	}
	if l.Env, err = p.environ(r, l); err != nil {
		return Launch{}, err
	}
	return l, p.config.Workdir.checkLogs(r.LogPath)
}

// Binaries returns the paths of the allowed binaries that this host has, by
// their names.
func (p *Policy) Binaries() map[string]string {
	found := map[string]string{}
	for _, name := range p.config.Allow {
		if path, err := p.resolve(name); err == nil {
			found[name] = path
		}
	}
	return found
}

// resolve finds an allowed binary. One that a command could have put there, in
// place of what a link leads to, is none.
func (p *Policy) resolve(name string) (string, error) {
	if !slices.Contains(p.config.Allow, name) {
		return "", fieldError("binary", "%s is not in the allow list (%s)", quoteField(name), p.allowed())
	}
	for _, dir := range p.config.Path {
		path := filepath.Join(dir, name)
		if runs(path) && !p.config.writable(path) {
			return path, nil
		}
	}
	return "", fieldError("binary", "%s is allowed, but this host has none in %s", name, joinPath(p.config.Path))
}

func (p *Policy) allowed() string {
	if len(p.config.Allow) == 0 {
		return "which is empty"
	}
	return cut(strings.Join(p.config.Allow, ", "), 256)
}

func executable(info fs.FileInfo) bool {
	return info.Mode()&0o111 != 0 || filepath.Ext(info.Name()) == ".exe"
}

func (p *Policy) maxRuntime(asked time.Duration) time.Duration {
	if limit := p.config.MaxRuntime; asked == 0 || limit > 0 && asked > limit {
		return limit
	}
	return asked
}

// arguments returns the argument vector of a request.
func arguments(r Request) ([]string, error) {
	switch {
	case r.Args != nil:
		return append([]string{r.Binary}, r.Args...), nil
	case slices.Contains(shells, r.Binary):
		return []string{r.Binary, "-c", r.Command}, nil
	}
	list, err := words(r.Command)
	return append([]string{r.Binary}, list...), err
}

func (p *Policy) environ(r Request, l Launch) ([]string, error) {
	e := newEnvironment(p.env)
	if err := p.override(e, r.Env); err != nil {
		return nil, err
	}
	e.set("PWD", p.config.Inside(l.Dir))
	e.set(proctree.MarkVar, l.Name)
	return e.values, nil
}
