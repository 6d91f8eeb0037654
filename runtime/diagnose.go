package runtime

import (
	"context"
	"errors"
	"os"

	"github.com/murmur-capsule/murmur/runtime/internal/containment"
	"github.com/murmur-capsule/murmur/runtime/internal/supervisor"
)

// A Diagnosis says what this host can give to the commands of capsules, for the
// user who asks. What it tells was tried.
type Diagnosis struct {
	// OS is the operating system, and UID the user.
	OS  string `json:"os"`
	UID int    `json:"uid"`
	// Best is the strongest class of containment that the host can give, and
	// Default the one of a manifest that asks for none.
	Best    string `json:"best_class"`
	Default string `json:"default_class"`
	// Mechanisms are what containment is made of.
	Mechanisms []Mechanism `json:"mechanisms"`
	// Classes tell of each class what it enforces here, weakest first.
	Classes []ClassDiagnosis `json:"classes"`
	// Supervision is about commands that outlive their runtime.
	Supervision Supervision `json:"supervision"`
}

// A Mechanism is one means of containment, and what trying it gave.
type Mechanism struct {
	Name string `json:"name"`
	containment.Finding
}

// A ClassDiagnosis tells of one class of containment.
type ClassDiagnosis struct {
	Class string `json:"class"`
	// Available says whether the host can give it; Missing says why not.
	Available bool     `json:"available"`
	Missing   []string `json:"missing,omitempty"`
	// Receipt is what a session with the default limits would be told.
	Receipt *Receipt `json:"receipt,omitempty"`
}

// Supervision says whether commands can outlive the runtime that started them.
type Supervision struct {
	// Works says that a supervisor was started and answered; Why says why not.
	Works bool   `json:"works"`
	Why   string `json:"why,omitempty"`
	// Service is the unit of a service manager that this process runs in, if any.
	Service string `json:"service,omitempty"`
	// Escapes says whether supervisors get out of that service. If they do not,
	// stopping it ends the commands too; Trapped says why.
	Escapes bool   `json:"escapes"`
	Trapped string `json:"trapped,omitempty"`
	// Remedy says what to do about either.
	Remedy string `json:"remedy,omitempty"`
}

// Diagnose finds out what this host can give. The program must call [Hook] first
// in main, as for a session.
func Diagnose(ctx context.Context) Diagnosis {
	host := containment.Probe(true)
	d := Diagnosis{OS: host.OS, UID: host.UID, Best: string(host.Best()), Supervision: diagnoseSupervision(ctx)}
	for _, m := range containment.Mechanisms() {
		d.Mechanisms = append(d.Mechanisms, Mechanism{string(m), host.Found[m]})
	}
	for _, c := range []containment.Class{containment.Advisory, containment.Scoped, containment.Sealed} {
		d.Classes = append(d.Classes, diagnoseClass(c, host))
	}
	if p, err := containment.Plan(containment.Ask{}, host, containment.Facts{Workdir: anyWorkdir}); err == nil {
		d.Default = string(p.Class)
	}
	return d
}

// anyWorkdir stands for the workdir of a session that is not started.
const anyWorkdir = "/var/empty/murmur"

func diagnoseClass(c containment.Class, host containment.Host) ClassDiagnosis {
	d := ClassDiagnosis{Class: string(c)}
	p, err := containment.Plan(containment.Ask{Class: c}, host, containment.Facts{Workdir: anyWorkdir})
	if refused := (*ContainmentError)(nil); errors.As(err, &refused) {
		d.Missing = refused.Missing
		return d
	}
	if err != nil {
		d.Missing = []string{err.Error()}
		return d
	}
	d.Available, d.Receipt = true, &p.Receipt
	return d
}

// diagnoseSupervision starts a supervisor that has nothing to do.
func diagnoseSupervision(ctx context.Context) Supervision {
	escape := supervisor.Escaping()
	s := Supervision{Service: escape.Service, Escapes: escape.Possible, Trapped: escape.Why}
	if err := trySupervisor(ctx); err != nil {
		s.Why = err.Error()
	}
	s.Works = s.Why == ""
	if !s.Escapes {
		s.Remedy = "put KillMode=process into the unit of " + s.Service + ", or let systemd be asked for a scope by busctl"
	}
	return s
}

func trySupervisor(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "murmur-trial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := supervisor.Connect(ctx, supervisor.Options{Dir: dir, Session: supervisor.Session{ID: "trial"}})
	if err != nil {
		return err
	}
	return r.Close()
}
