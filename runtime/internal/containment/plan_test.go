package containment

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// full is a host that has everything, for root.
func full() Host {
	h := Host{OS: "linux", UID: 0, LandlockABI: 7, Found: map[Mechanism]Finding{}, Groups: Groups{Pids: "/cg/pids", Memory: "/cg/memory"}}
	for _, m := range Mechanisms() {
		h.Found[m] = Finding{OK: true}
	}
	return h
}

// lacking is full without some mechanisms.
func lacking(list ...Mechanism) Host {
	h := full()
	for _, m := range list {
		h.Found[m] = Finding{Why: "no " + string(m) + " here", Remedy: "install " + string(m)}
		switch m {
		case MechLandlock:
			h.LandlockABI = 0
		case MechGroupKill, MechGroupPids:
			h.Groups.Pids, h.Groups.Unified = "", ""
		case MechGroupMemory:
			h.Groups.Memory = ""
		}
	}
	return h
}

// ordinary is h for a user without powers.
func ordinary(h Host) Host {
	h.UID = 1000
	h.Found[MechSessionNamespaces] = Finding{Why: "not root"}
	return h
}

func facts() Facts {
	return Facts{
		Workdir: "/state/workdirs/ses_1", Hidden: []string{"/state"}, Home: "/home/me",
		Resolve: func(p string) (string, error) {
			if strings.Contains(p, "missing") {
				return "", os.ErrNotExist
			}
			if p == "/home/me/link" {
				return "/state/sessions", nil
			}
			return p, nil
		},
	}
}

func ptr[T any](v T) *T { return &v }

func TestPlan_class(t *testing.T) {
	for name, c := range map[string]struct {
		ask    Class
		host   Host
		want   Class
		refuse []string
	}{
		"absent takes scoped, not sealed":    {"", full(), Scoped, nil},
		"absent without landlock":            {"", lacking(MechLandlock), Advisory, nil},
		"absent without seccomp":             {"", lacking(MechSeccomp), Advisory, nil},
		"advisory is what was asked for":     {Advisory, full(), Advisory, nil},
		"scoped":                             {Scoped, full(), Scoped, nil},
		"sealed":                             {Sealed, full(), Sealed, nil},
		"sealed needs no landlock":           {Sealed, lacking(MechLandlock), Sealed, nil},
		"scoped without landlock":            {Scoped, lacking(MechLandlock), "", []string{"class scoped", "landlock is missing", "no landlock here", "install landlock"}},
		"sealed without namespaces":          {Sealed, lacking(MechSealedRoot), "", []string{"class sealed", "sealed_root is missing", "install sealed_root"}},
		"root must drop capabilities":        {Scoped, lacking(MechCapabilities), "", []string{"capabilities is missing"}},
		"a user has none to drop":            {Scoped, ordinary(lacking(MechCapabilities)), Scoped, nil},
		"everything that is missing is said": {Scoped, lacking(MechLandlock, MechSeccomp), "", []string{"landlock", "seccomp"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Plan(Ask{Class: c.ask}, c.host, facts())
			if c.refuse != nil {
				var refused *RefusedError
				require.ErrorAs(t, err, &refused)
				for _, word := range c.refuse {
					assert.ErrorContains(t, err, word)
				}
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, p.Class)
			assert.Equal(t, c.want, p.Receipt.Class)
			assert.Equal(t, c.ask, p.Receipt.Asked)
			assert.True(t, p.Receipt.Pending)
		})
	}
}

func TestPlan_dimensions(t *testing.T) {
	for name, c := range map[string]struct {
		ask  Ask
		host Host
		held map[Dimension]string
		not  map[Dimension]string
	}{
		"scoped as root": {Ask{Class: Scoped}, full(), map[Dimension]string{
			DimFilesystem: "landlock ABI 7", DimNetwork: "network namespace", DimProcessTree: "cgroup",
			DimMemory: "cgroup", DimProcessCount: "cgroup", DimWallClock: "timer"}, nil},
		"scoped as a user without groups": {Ask{Class: Scoped}, ordinary(lacking(MechGroupKill, MechGroupPids, MechGroupMemory)),
			map[Dimension]string{DimFilesystem: "landlock", DimNetwork: "seccomp"},
			map[Dimension]string{DimProcessTree: "no cgroup_kill here", DimMemory: "install cgroup_memory", DimProcessCount: "an rlimit would count"}},
		"sealed": {Ask{Class: Sealed}, lacking(MechGroupKill), map[Dimension]string{
			DimFilesystem: "composed root", DimProcessTree: "pid namespace", DimNetwork: "network namespace"}, nil},
		"advisory holds nothing that a command can leave": {Ask{Class: Advisory}, full(), map[Dimension]string{DimWallClock: "timer"},
			map[Dimension]string{DimFilesystem: "asked for", DimMemory: "leave", DimProcessTree: "leave", DimProcessCount: "leave", DimNetwork: "asked for"}},
		"fallen back":        {Ask{}, lacking(MechLandlock), nil, map[Dimension]string{DimFilesystem: "no landlock here"}},
		"the host's network": {Ask{Class: Scoped, Network: NetworkHost}, full(), nil, map[Dimension]string{DimNetwork: "granted"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Plan(c.ask, c.host, facts())
			require.NoError(t, err)
			for d, by := range c.held {
				assert.Contains(t, strings.Join(p.Receipt.Enforced[d], ", "), by, d)
			}
			for d, why := range c.not {
				assert.Contains(t, p.Receipt.NotEnforced[d], why, d)
			}
			for _, d := range Dimensions() {
				_, not := p.Receipt.NotEnforced[d]
				assert.NotEqual(t, p.Receipt.Holds(d), not, "%s is enforced or it is not", d)
			}
		})
	}
}

func TestPlan_require(t *testing.T) {
	_, err := Plan(Ask{Class: Scoped, Require: []Dimension{DimMemory, DimFilesystem}}, full(), facts())
	require.NoError(t, err)

	_, err = Plan(Ask{Class: Scoped, Require: []Dimension{DimMemory}}, lacking(MechGroupMemory), facts())
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	assert.ErrorContains(t, err, "dimension memory")
	assert.ErrorContains(t, err, "install cgroup_memory")

	_, err = Plan(Ask{Require: []Dimension{DimFilesystem}}, lacking(MechLandlock), facts())
	require.ErrorAs(t, err, &refused, "a fallback must not lose what is required")
}

func TestPlan_grants(t *testing.T) {
	for name, c := range map[string]struct {
		paths Paths
		want  string
	}{
		"relative":                    {Paths{Read: []string{"src"}}, `filesystem.read[0]: "src" is neither absolute`},
		"parent":                      {Paths{Write: []string{"/ok", "/a/../b"}}, "filesystem.write[1]"},
		"root":                        {Paths{Read: []string{"/"}}, "whole root"},
		"NUL":                         {Paths{Read: []string{"/a\x00"}}, "NUL"},
		"missing":                     {Paths{Read: []string{"/missing"}}, "does not exist"},
		"the state directory":         {Paths{Read: []string{"/state"}}, "no command may reach"},
		"above the state directory":   {Paths{Write: []string{"/state/.."}}, "parent element"},
		"in the state directory":      {Paths{Read: []string{"/state/sessions"}}, "it lies in /state"},
		"another session's workdir":   {Paths{Read: []string{"/state/workdirs/ses_2"}}, "it lies in /state"},
		"a link to what is not shown": {Paths{Read: []string{"~/link"}}, "it lies in /state"},
		"a user of another name":      {Paths{Read: []string{"~root"}}, "neither absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Plan(Ask{Class: Scoped, Filesystem: c.paths}, full(), facts())
			require.ErrorContains(t, err, c.want)
		})
	}
	p, err := Plan(Ask{Class: Scoped, Filesystem: Paths{Read: []string{"~/.cargo"}, Write: []string{"/cache/"}}}, full(), facts())
	require.NoError(t, err)
	assert.Contains(t, p.Grants, Grant{Path: "/home/me/.cargo", Exec: true})
	assert.Contains(t, p.Grants, Grant{Path: "/cache", Write: true, Exec: true})
	assert.Contains(t, p.Grants, Grant{Path: "/state/workdirs/ses_1", Write: true, Exec: true})
	assert.True(t, p.Reaches("/home/me/.cargo/bin/x"))
	assert.True(t, p.Reaches("/usr/bin/env"))
	assert.False(t, p.Reaches("/home/me/.cargo2/x"))
	assert.False(t, p.Reaches("/etc/passwd"), "it may be read, not run")
}

func TestPlan_workdir(t *testing.T) {
	f := facts()
	f.Workdir = "/"
	f.Hidden = nil
	_, err := Plan(Ask{Class: Scoped}, full(), f)
	require.ErrorContains(t, err, "overlap")
	f.Workdir = "/usr/local/src"
	_, err = Plan(Ask{Class: Scoped}, full(), f)
	require.ErrorContains(t, err, "overlap")
	f = facts()
	f.Workdir, f.Hidden = "/home/me", []string{"/home/me/.local/state/murmur"}
	_, err = Plan(Ask{Class: Scoped}, full(), f)
	require.ErrorContains(t, err, "holds /home/me/.local/state/murmur")

	p, err := Plan(Ask{Class: Sealed, Filesystem: Paths{WorkdirExec: ptr(false)}}, full(), facts())
	require.NoError(t, err)
	assert.Equal(t, SealedWorkdir, p.View())
	assert.Equal(t, "/workdir/a/b", p.Inside("/state/workdirs/ses_1/a/b"))
	assert.Equal(t, "/usr", p.Inside("/usr"))
	assert.False(t, p.WorkdirExec)
	p.Class = Scoped
	assert.Equal(t, "/state/workdirs/ses_1", p.View())
}

func TestPlan_user(t *testing.T) {
	f := facts()
	f.UID = 61000
	p, err := Plan(Ask{Class: Scoped}, lacking(MechGroupPids), f)
	require.NoError(t, err)
	assert.Equal(t, 61000, p.UID)
	assert.Equal(t, 61000, p.Receipt.UID)
	assert.Equal(t, []string{"rlimit of the session's own user"}, p.Receipt.Enforced[DimProcessCount])

	p, err = Plan(Ask{Class: Scoped}, ordinary(full()), f)
	require.NoError(t, err)
	assert.Zero(t, p.UID, "only root can change the user")
	assert.Equal(t, 1000, p.Receipt.UID)
}

func TestReceipt_limits(t *testing.T) {
	by := func(p Profile, name string) LimitReceipt {
		for _, l := range p.Receipt.Limits {
			if l.Name == name {
				return l
			}
		}
		require.Fail(t, "no receipt for "+name)
		return LimitReceipt{}
	}
	p, err := Plan(Ask{Class: Scoped, Resources: Resources{MemoryBytes: ptr(gibi)}}, full(), facts())
	require.NoError(t, err)
	assert.Equal(t, LimitReceipt{Name: "memory_bytes", Value: gibi, By: "rlimit"}, by(p, "memory_bytes"))
	assert.Equal(t, LimitReceipt{Name: "max_processes", Value: 128, By: "cgroup"}, by(p, "max_processes"))

	p, err = Plan(Ask{Class: Advisory}, full(), facts())
	require.NoError(t, err)
	assert.Contains(t, by(p, "cpu_seconds").By, "root can raise")
	assert.Contains(t, by(p, "cgroup_memory_bytes").By, "leaves")

	p, err = Plan(Ask{Class: Scoped}, lacking(MechHold, MechGroupPids), facts())
	require.NoError(t, err)
	assert.Contains(t, by(p, "max_open_files").By, "just after")
	assert.Empty(t, by(p, "max_processes").By)
	assert.Contains(t, by(p, "max_processes").Why, "rlimit would count")

	h := full()
	h.OS = "darwin"
	p, err = Plan(Ask{Class: Advisory}, h, facts())
	require.NoError(t, err)
	assert.Contains(t, by(p, "max_open_files").Why, "Linux")
	assert.Contains(t, p.Receipt.NotEnforced[DimFilesystem], "darwin")
}

func TestReceipt_JSON(t *testing.T) {
	p, err := Plan(Ask{Class: Scoped, Require: []Dimension{DimFilesystem}}, full(), facts())
	require.NoError(t, err)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	var back Profile
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, p, back, "a profile crosses to the supervisor as JSON")

	text, err = json.Marshal(p.Receipt)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"pending":true`)
	text, err = json.Marshal(p.Receipt.Confirmed(&Verified{NoNewPrivs: true}))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "pending")
	assert.Contains(t, string(text), `"verified":{"no_new_privs":true`)
	assert.NotContains(t, string(text), "null")
}

func TestAsk_Validate(t *testing.T) {
	require.NoError(t, Ask{}.Validate())
	for name, c := range map[string]struct {
		ask  Ask
		want string
	}{
		"class":         {Ask{Class: "Sealed"}, "containment"},
		"network":       {Ask{Network: "example.org"}, "network"},
		"dimension":     {Ask{Require: []Dimension{"disk"}}, "require"},
		"contradiction": {Ask{Network: NetworkHost, Require: []Dimension{DimNetwork}}, "cannot be required"},
		"zero":          {Ask{Resources: Resources{CPUSeconds: ptr(int64(0))}}, "resources.cpu_seconds"},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, c.ask.Validate(), c.want) })
	}
}

func TestResources_Limits(t *testing.T) {
	l, err := Resources{}.Limits()
	require.NoError(t, err)
	assert.Equal(t, Limits{
		MaxProcesses: 128, MaxOpenFiles: 1024, MaxFileSizeBytes: 4 << 30, CPUSeconds: 3600,
		CgroupMemoryBytes: 4 << 30, CgroupPidsMax: 256, WorkdirMaxBytes: 10 << 30, MaxOutputBytes: 256 << 20,
	}, l)
	fields := []string{"max_processes", "max_open_files", "max_file_size_bytes", "cpu_seconds", "memory_bytes",
		"cgroup_memory_bytes", "cgroup_pids_max", "workdir_max_bytes", "max_output_bytes"}
	for _, name := range fields {
		for _, bad := range []string{"0", "-1"} {
			var r Resources
			require.NoError(t, json.Unmarshal([]byte(`{"`+name+`":`+bad+`}`), &r))
			_, err := r.Limits()
			require.ErrorContains(t, err, "resources."+name)
		}
		var r Resources
		require.NoError(t, json.Unmarshal([]byte(`{"`+name+`":77}`), &r))
		l, err := r.Limits()
		require.NoError(t, err)
		text, err := json.Marshal(l)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"`+name+`":77`)
	}
	assert.Equal(t, int64(128), l.pidsMax())
}

func TestRefusedError_isTyped(t *testing.T) {
	_, err := Plan(Ask{Class: "x"}, full(), facts())
	var refused *RefusedError
	assert.False(t, errors.As(err, &refused), "a wrong manifest is no weak host")
}
