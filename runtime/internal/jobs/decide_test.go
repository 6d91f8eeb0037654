package jobs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestDecide(t *testing.T) {
	const late = 2 * time.Hour
	running := sample(1)
	running.State = Running
	stopping := running
	stopping.StopRequestedAt = 1
	boundless := running
	boundless.MaxRuntimeMS = 0
	done := running
	done.State = Finished

	tests := []struct {
		name string
		r    Record
		o    Observation
		want Decision
	}{
		{"finished stays", done, Observation{Verdict: Gone, Age: late}, Decision{Action: Keep}},
		{"runs on", running, Observation{Verdict: Owned}, Decision{Action: Keep}},
		{"runs on without a limit", boundless, Observation{Verdict: Owned, Age: late}, Decision{Action: Keep}},
		{"an exit record comes before all", stopping, Observation{Exit: ExitValid, Verdict: Owned, Age: late, Supervised: true}, Decision{Action: Collect}},
		{"an exit record at start-up", running, Observation{Exit: ExitValid, Verdict: Foreign, StartUp: true}, Decision{Action: Collect}},
		{"an exit record that is not believed", stopping, Observation{Exit: ExitUnusable, Verdict: Owned, Age: late}, Decision{Fail, ResultUnavailable}},
		{"supervised: gone is not died", running, Observation{Verdict: Gone, Supervised: true}, Decision{Action: Keep}},
		{"supervised: the limit is the supervisor's", running, Observation{Verdict: Owned, Age: time.Hour + time.Second, Supervised: true}, Decision{Action: Keep}},
		{"supervised: but not for ever", running, Observation{Verdict: Owned, Age: late, Supervised: true}, Decision{Teardown, TimedOut}},
		{"supervised: a stop is asked for again", stopping, Observation{Verdict: Owned, Supervised: true}, Decision{Ask, Killed}},
		{"supervised: at start-up", running, Observation{Verdict: Foreign, Supervised: true, StartUp: true}, Decision{Action: Keep}},
		{"start-up: owned is kept", running, Observation{Verdict: Owned, StartUp: true}, Decision{Action: Keep}},
		{"start-up: gone is kept", running, Observation{Verdict: Gone, StartUp: true}, Decision{Action: Keep}},
		{"start-up: foreign is retired", running, Observation{Verdict: Foreign, StartUp: true}, Decision{Fail, OwnershipLost}},
		{"start-up: unverifiable is retired", running, Observation{Verdict: Unverifiable, StartUp: true}, Decision{Fail, OwnershipLost}},
		{"start-up: retired before it is stopped", stopping, Observation{Verdict: Foreign, Age: late, StartUp: true}, Decision{Fail, OwnershipLost}},
		{"stopped comes before timed out", stopping, Observation{Verdict: Owned, Age: late}, Decision{Teardown, Killed}},
		{"stopped, and gone by itself", stopping, Observation{Verdict: Gone}, Decision{Fail, Killed}},
		{"over its limit", running, Observation{Verdict: Owned, Age: late}, Decision{Teardown, TimedOut}},
		{"over its limit and gone", running, Observation{Verdict: Gone, Age: late}, Decision{Fail, TimedOut}},
		{"over its limit and another's", running, Observation{Verdict: Foreign, Age: late}, Decision{Fail, TimedOut}},
		{"over its limit and unknown", running, Observation{Verdict: Unverifiable, Age: late}, Decision{Unproven, TimedOut}},
		{"gone", running, Observation{Verdict: Gone}, Decision{Fail, Died}},
		{"another's pid", running, Observation{Verdict: Foreign}, Decision{Fail, Died}},
		{"unknown within its limit", running, Observation{Verdict: Unverifiable}, Decision{Action: Keep}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Decide(tt.r, tt.o))
		})
	}
}

// Only an owned process may ever be signalled, whatever else is true.
func TestDecide_SignalsOnlyWhatIsOwned(t *testing.T) {
	for _, v := range []Verdict{Gone, Foreign, Unverifiable} {
		for bits := range 1 << 4 {
			r := sample(1)
			r.State = Running
			if bits&1 != 0 {
				r.StopRequestedAt = 1
			}
			o := Observation{Verdict: v, Supervised: bits&2 != 0, StartUp: bits&4 != 0}
			if bits&8 != 0 {
				o.Age = 100 * time.Hour
			}
			for o.Exit = ExitAbsent; o.Exit <= ExitUnusable; o.Exit++ {
				assert.NotEqual(t, Teardown, Decide(r, o).Action, "%s %+v", v, o)
			}
		}
	}
}
