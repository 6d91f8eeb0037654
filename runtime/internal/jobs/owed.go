package jobs

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
)

// Claim says whose finished works are asked for.
type Claim struct {
	// Session asks. The works of other living sessions are theirs to deliver.
	Session string
	// Capsule, OwnerUID and Workdir must all be the record's.
	Capsule  string
	OwnerUID int
	Workdir  string
	// Alive says whether another session still runs. A nil Alive says no.
	Alive func(session string) bool
}

// Covers says whether the work belongs to the claim's capsule, owner and
// working directory, whatever its state.
func (c Claim) Covers(r Record) bool {
	return r.Capsule == c.Capsule && r.OwnerUID == c.OwnerUID && r.Workdir == c.Workdir
}

// Owes says whether the work is finished, not taken, and this session's to
// deliver.
func (c Claim) Owes(r Record) bool {
	if r.State != Finished && r.State != Offered {
		return false
	}
	return c.Covers(r) && r.GivenUpBy != c.Session && !c.others(r.Session) &&
		!(r.State == Offered && r.GivenUpBy != r.OfferedSession && c.others(r.OfferedSession))
}

func (c Claim) others(session string) bool {
	return session != c.Session && c.Alive != nil && c.Alive(session)
}

// Owed lists what the stores owe to the claim, in the order of the ids. A store
// that cannot be read does not hide the others.
func Owed(stores []*Store, c Claim) ([]Handle, []Aside, error) {
	var owed []Handle
	var asides []Aside
	var errs []error
	for _, s := range stores {
		handles, aside, err := s.List()
		errs = append(errs, err)
		asides = append(asides, aside...)
		for _, h := range handles {
			if c.Owes(h.record) {
				owed = append(owed, h)
			}
		}
	}
	slices.SortFunc(owed, func(a, b Handle) int { return cmp.Compare(a.record.WorkID, b.record.WorkID) })
	return owed, asides, errors.Join(errs...)
}

// MaxAttempts is how often one session tries to deliver a work.
const MaxAttempts = 8

const (
	firstDelay = 500 * time.Millisecond
	lastDelay  = 2 * time.Minute
)

// Backoff is how long to wait after a failed delivery: it doubles with every
// attempt up to two minutes, and lies at random in its upper half, so that
// works that failed together do not come back together.
func Backoff(attempt int) time.Duration {
	d := lastDelay
	if shift := max(attempt, 1) - 1; shift < 16 {
		d = min(lastDelay, firstDelay<<shift)
	}
	return d/2 + rand.N(d/2)
}
