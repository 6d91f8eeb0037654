package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime"
)

// weakHost is what a host without Landlock would be told of.
const weakHost = `{
	"os": "linux", "uid": 1000, "best_class": "advisory", "default_class": "advisory",
	"mechanisms": [
		{"name": "seccomp", "ok": true, "detail": "amd64"},
		{"name": "landlock", "ok": false, "why": "the kernel has no Landlock\u001b[2J", "remedy": "boot another"}
	],
	"classes": [
		{"class": "advisory", "available": true, "receipt": {"class": "advisory", "enforced": {"wall_clock": ["timer"]}, "not_enforced": {
			"filesystem": "class advisory: landlock is missing; to get it: boot another", "network": "class advisory: landlock is missing", "memory": "no group"}}},
		{"class": "sealed", "available": false, "missing": ["landlock is missing (no Landlock); to get it: boot another"]}
	],
	"supervision": {"works": false, "why": "no", "service": "a.service", "trapped": "busctl is missing", "remedy": "change the unit"}
}`

func TestDoctor_weakHost(t *testing.T) {
	var d runtime.Diagnosis
	require.NoError(t, json.Unmarshal([]byte(weakHost), &d))
	var out bytes.Buffer
	a := &app{stdout: &out}
	a.showMechanisms(d.Mechanisms)
	a.showClasses(d.Classes)
	a.showSupervision(d.Supervision)
	assert.Equal(t, `MECHANISM            STATE   
seccomp              ok       amd64
landlock             missing  the kernel has no Landlock\x1b[2J
                              to get it: boot another
DIMENSION      ADVISORY  SEALED
filesystem     -         -
process_tree   -         -
network        -         -
memory         -         -
process_count  -         -
wall_clock     timer     -
advisory: no filesystem, network: class advisory: landlock is missing
advisory: no memory: no group
sealed: landlock is missing (no Landlock); to get it: boot another
Commands do not outlive the runtime: no
This is the service a.service, and stopping it ends the supervisors and their commands too: busctl is missing.
To change that: change the unit.
`, out.String())
}

func TestReceipt(t *testing.T) {
	planned := runtime.Event{Type: "session_start", Capsule: "c", Version: "1", SessionID: "s", Containment: json.RawMessage(
		`{"class": "scoped", "require": ["memory"], "pending": true, "enforced": {"filesystem": ["landlock"]}, "not_enforced": {"memory": "no group"},
		"limits": [{"name": "cpu_seconds", "value": 9, "by": "rlimit"}, {"name": "max_processes", "value": 8, "why": "no group"}], "notes": ["a note"]}`)}
	seen := runtime.Event{Type: "shell", Binary: "/bin/bash", Command: "x", Containment: json.RawMessage(
		`{"class": "scoped", "verified": {"uid": 7, "capabilities_effective": "00", "no_new_privs": true, "seccomp": true}}`)}
	broken := runtime.Event{Type: "session_start", Capsule: "c", Version: "1", SessionID: "s", Containment: json.RawMessage(`[]`)}
	var out bytes.Buffer
	line := &timeline{w: &out, receipts: true}
	for _, e := range []runtime.Event{planned, seen, broken} {
		line.show(e)
	}
	assert.Equal(t, `    +0.00s  session                  c 1, session s, containment scoped
            class               scoped (none was asked for: the best up to scoped; memory required; as planned: no command has run yet)
            filesystem          landlock
            process_tree        -
            network             -
            memory              -: no group
            process_count       -
            wall_clock          -
            cpu_seconds         9, rlimit
            max_processes       8, -: no group
            note                a note
    +0.00s  command                  bash · x · exit 0 after 0s
            seen                a command runs as planned, class scoped: user 7, capabilities 00, no_new_privs true, seccomp true
    +0.00s  session                  c 1, session s
`, out.String())
	assert.Equal(t, "    +0.00s  session                  c 1, session s, containment scoped\n", shown(style{}, planned), "without -v it is the class alone")
}
