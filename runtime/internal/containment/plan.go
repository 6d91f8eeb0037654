package containment

import (
	"fmt"
	"slices"
	"strings"
)

// A RefusedError says that a host cannot give what was asked for. Nothing has
// been started.
type RefusedError struct {
	// Asked is what cannot be given: "class sealed", "dimension memory".
	Asked string
	// Missing says for each reason what is missing and how to get it.
	Missing []string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("cannot enforce %s on this host: %s", e.Asked, strings.Join(e.Missing, "; "))
}

// Plan settles what a asks for on h. It touches nothing but what f.Resolve
// touches. The error is a [RefusedError] if the host is too weak, else it names
// the field of the manifest that is wrong.
func Plan(a Ask, h Host, f Facts) (Profile, error) {
	if err := a.Validate(); err != nil {
		return Profile{}, err
	}
	class, err := class(a, h)
	if err != nil {
		return Profile{}, err
	}
	limits, err := a.Resources.Limits()
	if err != nil {
		return Profile{}, err
	}
	p := Profile{
		Class: class, Workdir: f.Workdir, Temp: f.Temp, WorkdirExec: workdirExec(a), Network: a.network(),
		Hold: h.Has(MechHold), Groups: h.Groups, Limits: limits,
	}
	if class != Advisory {
		if err := p.confine(a, h, f); err != nil {
			return Profile{}, err
		}
	}
	p.Receipt = receipt(a, h, p)
	return p, required(a, p.Receipt)
}

// class picks the class: what was asked for by name, or the best up to scoped.
func class(a Ask, h Host) (Class, error) {
	if a.Class == "" {
		if len(h.missing(Scoped)) > 0 {
			return Advisory, nil
		}
		return Scoped, nil
	}
	if lack := h.missing(a.Class); len(lack) > 0 {
		return "", &RefusedError{Asked: "class " + string(a.Class), Missing: explain(h, lack)}
	}
	return a.Class, nil
}

func explain(h Host, lack []Mechanism) []string {
	var out []string
	for _, m := range lack {
		f := h.Found[m]
		text := fmt.Sprintf("%s is missing", m)
		if f.Why != "" {
			text += " (" + f.Why + ")"
		}
		if f.Remedy != "" {
			text += "; to get it: " + f.Remedy
		}
		out = append(out, text)
	}
	return out
}

func (a Ask) network() Network {
	if a.Network == "" {
		return NetworkNone
	}
	return a.Network
}

// confine fills in what scoped and sealed have beyond advisory.
func (p *Profile) confine(a Ask, h Host, f Facts) error {
	if err := f.validate(); err != nil {
		return err
	}
	list, err := grants(a, f)
	if err != nil {
		return err
	}
	p.Grants = list
	p.LandlockABI = h.LandlockABI
	p.Seccomp = true
	p.DropCapabilities = h.Root() || p.Class == Sealed
	p.UserNamespace = p.Class == Sealed && !h.Root()
	p.Ward = p.Class == Sealed && h.Root() && h.Has(MechGroupKill)
	p.SessionNamespaces = p.Class == Scoped && p.Network == NetworkNone && h.Has(MechSessionNamespaces)
	if h.Root() && f.UID > 0 {
		p.UID = f.UID
		p.ProcessRlimit = true
	}
	return nil
}

// required refuses a plan that does not enforce what must be.
func required(a Ask, r Receipt) error {
	for _, d := range Dimensions() {
		if slices.Contains(a.Require, d) && !r.Holds(d) {
			return &RefusedError{Asked: "dimension " + string(d), Missing: []string{r.NotEnforced[d]}}
		}
	}
	return nil
}
