package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// A Receipt says how a session's commands are contained: what was asked for,
// what is enforced by which mechanism, and what is not and why. It is pending
// until a command has been seen to run.
type Receipt = containment.Receipt

// A Dimension is one thing that containment can take away from a command, as a
// [Receipt] tells about each.
type Dimension = containment.Dimension

// Dimensions lists every dimension, in the order in which they are shown.
func Dimensions() []Dimension { return containment.Dimensions() }

// A ContainmentError says that this host cannot give the containment that a
// manifest asks for, what is missing, and how to get it. Nothing was started.
type ContainmentError = containment.RefusedError

// contained is what a session has for the containment of its commands. It is
// empty where a scripted shell stands for them.
type contained struct {
	profile *containment.Profile
	quota   *containment.Quota
	// sandbox is that of the in-process runner; a supervisor has its own.
	sandbox *containment.Sandbox
}

// contain settles how the session's commands are contained, before anything is
// written down: a host that is too weak refuses the launch, and nothing is left
// of it.
func (s *Session) contain() error {
	if s.opts.Shell != nil || s.opts.testOnlyUncontained {
		return nil
	}
	ask := askOf(s.capsule.manifest.Capabilities)
	host := containment.Probe(ask.Class == containment.Sealed)
	if s.opts.testOnlyHost != nil {
		s.opts.testOnlyHost(&host)
	}
	facts, err := s.facts(ask)
	if err != nil {
		return err
	}
	p, err := containment.Plan(ask, host, facts)
	if err != nil {
		return planError(err)
	}
	s.contained.profile = &p
	s.contained.quota = containment.NewQuota(p.Workdir, p.Limits.WorkdirMaxBytes)
	return nil
}

// planError names a field as the manifest has it.
func planError(err error) error {
	if strings.HasPrefix(err.Error(), "filesystem.") {
		return fmt.Errorf("capabilities.%w", err)
	}
	return err
}

// askOf is what a manifest wants.
func askOf(c capsule.Capabilities) containment.Ask {
	a := containment.Ask{
		Class:   containment.Class(c.Containment),
		Network: containment.Network(c.Network),
		Filesystem: containment.Paths{
			Read: c.Filesystem.Read, Write: c.Filesystem.Write, WorkdirExec: &c.Filesystem.WorkdirExec,
		},
		Resources: limitsOf(c.Resources),
	}
	for _, d := range c.Require {
		a.Require = append(a.Require, containment.Dimension(d))
	}
	return a
}

func limitsOf(r capsule.Resources) containment.Resources {
	limits := containment.Resources{
		MaxProcesses: &r.MaxProcesses, MaxOpenFiles: &r.MaxOpenFiles, MaxFileSizeBytes: &r.MaxFileSizeBytes,
		CPUSeconds: &r.CPUSeconds, CgroupMemoryBytes: &r.CgroupMemoryBytes, CgroupPidsMax: &r.CgroupPidsMax,
		WorkdirMaxBytes: &r.WorkdirMaxBytes, MaxOutputBytes: &r.MaxOutputBytes,
	}
	if r.MemoryBytes > 0 {
		limits.MemoryBytes = &r.MemoryBytes
	}
	return limits
}

// facts are what the plan has to know of this session. Commands keep the user
// they are started by, root too: the guest and the runtime write into the same
// workdir, and neither may be kept from the files of the other.
func (s *Session) facts(a containment.Ask) (containment.Facts, error) {
	f := containment.Facts{Workdir: s.workdir.Path(), Temp: s.workdir.Temp(), Home: userHome()}
	f.Hidden = []string{realPath(string(s.rt.state)), realPath(s.rt.opts.CacheDir)}
	granted := grantedPaths(a, f.Home)
	f.Hidden = append(f.Hidden, secrets(f.Home, granted)...)
	if len(granted) == 0 {
		return f, nil
	}
	others, err := s.otherWorkdirs()
	f.Hidden = append(f.Hidden, others...)
	return f, err
}

// userHome is what "~" in a grant stands for, empty if nothing does.
func userHome() string {
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) || filepath.Clean(home) == "/" {
		return ""
	}
	return home
}

// realPath is path without links, as far as it is there.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func grantedPaths(a containment.Ask, home string) []string {
	var list []string
	for _, p := range slices.Concat(a.Filesystem.Read, a.Filesystem.Write) {
		list = append(list, realPath(containment.AtHome(p, home)))
	}
	return list
}

// secretPlaces are where a home has its keys. They are never granted together
// with what is around them.
var secretPlaces = []string{
	".ssh", ".gnupg", ".netrc", ".git-credentials", ".password-store", ".local/share/keyrings",
	".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/git/credentials",
	".npmrc", ".pypirc", ".cargo/credentials.toml", ".m2/settings.xml", ".gem/credentials",
	".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
}

// secrets are the places of keys that exist, less those that are granted by
// their own names.
func secrets(home string, granted []string) []string {
	if home == "" {
		return nil
	}
	var list []string
	for _, name := range secretPlaces {
		path, err := filepath.EvalSymlinks(filepath.Join(home, name))
		if err != nil || slices.ContainsFunc(granted, func(p string) bool { return liesIn(path, p) }) {
			continue
		}
		list = append(list, path)
	}
	return list
}

// otherWorkdirs are where other sessions work just now. One that shares its
// place with this session is none: whoever started both wanted that.
func (s *Session) otherWorkdirs() ([]string, error) {
	sessions, err := Sessions(s.rt.StateDir())
	if err != nil {
		return nil, err
	}
	var list []string
	for _, other := range sessions {
		own := s.workdir.Path()
		if other.Running && filepath.IsAbs(other.Workdir) && !liesIn(own, other.Workdir) && !liesIn(other.Workdir, own) {
			list = append(list, filepath.Clean(other.Workdir))
		}
	}
	return list, nil
}

// liesIn tells whether path is dir or lies in it.
func liesIn(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// apply gives the shell's policy what containment has to do with it.
func (c *contained) apply(to *shell.Config) {
	if c.profile == nil {
		return
	}
	to.MaxOutput, to.Inside = c.profile.Limits.MaxOutputBytes, c.profile.Inside
	for _, g := range c.profile.Grants {
		if g.Write && !g.Device && g.Path != c.profile.Workdir {
			to.Writable = append(to.Writable, g.Path)
		}
	}
}

// openSandbox prepares the sandbox of the in-process runner.
func (c *contained) openSandbox() (err error) {
	if c.profile != nil {
		c.sandbox, err = containment.Open(*c.profile)
	}
	return err
}

// awaitContained waits until commands can be contained, last of all: a
// supervisor prepares that beside everything else.
func (s *Session) awaitContained() error {
	if s.durables == nil {
		return nil
	}
	return s.durables.own.runner.Contained(s.ctx)
}

func (c *contained) close() {
	if c.sandbox != nil {
		_ = c.sandbox.Close()
	}
}

// Containment says how the session's commands are contained; nil where a
// scripted shell stands for them.
func (s *Session) Containment() *Receipt {
	switch {
	case s.durables != nil:
		return s.durables.own.runner.Receipt()
	case s.contained.sandbox != nil:
		r := s.contained.sandbox.Receipt()
		return &r
	}
	return nil
}

// receiptText is the receipt as the trace has it.
func (s *Session) receiptText() json.RawMessage {
	r := s.Containment()
	if r == nil {
		return nil
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil // A receipt is plain data.
	}
	return text
}

// confirmation is the receipt once a command has been seen to run under it, for
// the first of the session's commands that can tell.
func (s *Session) confirmation() json.RawMessage {
	r := s.Containment()
	if r == nil || r.Pending || s.confirmed.Swap(true) {
		return nil
	}
	return s.receiptText()
}

// warnContained tells the operator what would be found out too late.
func (s *Session) warnContained() {
	p := s.contained.profile
	if p == nil {
		return
	}
	warn := func(format string, args ...any) {
		fmt.Fprintf(s.operator, "[capsule-runtime] "+format+"\n", args...)
	}
	if p.Receipt.Asked == "" && p.Class == containment.Advisory {
		for _, note := range p.Receipt.Notes {
			warn("%s", note)
		}
	}
	if owner, ok := unwritable(*p); ok {
		warn("the workdir belongs to user %d, and contained commands of root cannot write there: run as that user, or give the directory to root", owner)
	}
	binaries := s.policy.Binaries()
	for _, name := range s.capsule.manifest.Capabilities.Shell.Allow {
		path := binaries[name]
		if path == "" {
			continue
		}
		if real := realPath(path); !p.Reaches(real) {
			warn("commands cannot run %s: %s lies outside of what class %s grants (capabilities.filesystem.read)", name, shell.Quote(real), p.Class)
		}
	}
}

// checkQuota refuses a command where the workdir is full.
func (s *Session) checkQuota(t *task) error {
	if s.contained.quota == nil {
		return nil
	}
	err := s.contained.quota.Check(t.ctx)
	if errors.Is(err, t.ctx.Err()) {
		return nil // Whoever waited is gone; the command's start says so.
	}
	return err
}
