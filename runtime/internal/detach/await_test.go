package detach_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/runtime/internal/detach"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
	"github.com/murmur-capsule/murmur/runtime/provenance"
)

func TestAwait_ACommandOutrunningItsGraceIsDemoted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, c := detach.NewRegistry(), start()
		c.endAfter(3*time.Second, 0)
		w := await(t, c, policy(r))
		require.NotNil(t, w)
		assert.Equal(t, time.Second, time.Since(c.started), "the call is back at the grace, neither sooner nor later")
		assert.Regexp(t, `^wrk_[0-9a-f]+$`, w.ID)
		assert.Equal(t, []string{w.ID}, outstanding(r), "it is registered before the handle is returned")
		assert.EqualValues(t, 1000, *w.Event().GraceMS)

		got := completion(t, r)
		assert.Equal(t, 3*time.Second, time.Since(c.started))
		assert.Equal(t, *w, got.Work)
		assert.Equal(t, "ok", got.Status())
		assert.Equal(t, 0, got.Exit.Code)
		assert.Equal(t, 3*time.Second, got.Exit.Duration, "the duration counts from the spawn")
		assert.Equal(t, "logs/"+w.ID+".log", got.Log.Path)
		assert.Equal(t, "completion/trusted", got.Message().Provenance.String())
		assert.Equal(t, "ctx_1", got.Message().ContextID)
		assert.Empty(t, outstanding(r))
		requireNoReport(t, r)
	})
}

func TestAwait_AFastCommandFinishesInTheForeground(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, c := detach.NewRegistry(), start()
		c.endAfter(999*time.Millisecond, 7)
		assert.Nil(t, await(t, c, policy(r)))
		assert.Equal(t, 999*time.Millisecond, time.Since(c.started))
		assert.Empty(t, outstanding(r))
		requireNoReport(t, r)
	})
}

func TestAwait_TheGraceCountsFromTheSpawn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start()
		time.Sleep(700 * time.Millisecond)
		require.NotNil(t, await(t, c, policy(detach.NewRegistry())))
		assert.Equal(t, time.Second, time.Since(c.started))
		c.end(shell.Exit{})
		synctest.Wait()
	})
}

func TestAwait_AClockThatWasSetBackDoesNotLengthenTheGrace(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c, called := start(), time.Now()
		c.started = c.started.Add(time.Hour).Round(0)
		require.NotNil(t, await(t, c, policy(detach.NewRegistry())))
		assert.Equal(t, time.Second, time.Since(called))
		c.end(shell.Exit{})
		synctest.Wait()
	})
}

func TestAwait_NoGraceDemotesAtOnceUnlessItHasEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		p := policy(r)
		p.Grace = 0
		running, over := start(), start()
		over.end(shell.Exit{})
		assert.Nil(t, await(t, over, p))
		called := time.Now()
		require.NotNil(t, await(t, running, p))
		assert.Equal(t, called, time.Now())
		running.end(shell.Exit{})
		assert.Equal(t, "ok", completion(t, r).Status())
	})
}

func TestAwait_BackgroundDemotesAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := detach.NewRegistry()
		p := policy(r)
		p.Background = true
		for _, c := range []*command{start(), start()} {
			called := time.Now()
			w := await(t, c, p)
			require.NotNil(t, w)
			assert.Equal(t, called, time.Now())
			assert.EqualValues(t, 0, *w.Event().GraceMS)
			c.end(shell.Exit{})
			assert.Equal(t, w.ID, completion(t, r).ID)
		}
		over := start()
		over.end(shell.Exit{})
		w := await(t, over, p)
		require.NotNil(t, w, "also one that has ended: its guest asked to be told later")
		assert.Equal(t, w.ID, completion(t, r).ID)
	})
}

func TestAwait_AnAbandonedCommandIsDemotedNotKilled(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, c := detach.NewRegistry(), start()
		abandoned := make(chan struct{})
		p := policy(r)
		p.Abandoned = abandoned
		time.AfterFunc(300*time.Millisecond, func() { close(abandoned) })
		w := await(t, c, p)
		require.NotNil(t, w)
		assert.Equal(t, 300*time.Millisecond, time.Since(c.started))
		assert.Equal(t, []string{w.ID}, outstanding(r))
		c.end(shell.Exit{})
		assert.Equal(t, w.ID, completion(t, r).ID)

		over := start()
		over.end(shell.Exit{})
		assert.Nil(t, await(t, over, p), "one that ended in time is a foreground result, whoever is gone")
	})
}

func TestAwait_WithoutAPolicyEverythingIsForeground(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := start()
		c.endAfter(time.Hour, 0)
		assert.Nil(t, await(t, c, nil))
		assert.Equal(t, time.Hour, time.Since(c.started))
	})
}

func TestAwait_ProvenanceOfTheCompletion(t *testing.T) {
	event := provenance.Derive(provenance.Event, nil)
	user := provenance.Derive(provenance.User, nil)
	for want, task := range map[string]*provenance.Provenance{
		"completion/untrusted": &event, "completion/trusted": &user,
	} {
		inBubble(t, func(t *testing.T) {
			r, c := detach.NewRegistry(), start()
			p := policy(r)
			// The completion of a completion, and so on, stays what the first was.
			for range 3 {
				p.Provenance, p.Background = task, true
				await(t, c, p)
				c.end(shell.Exit{})
				got := completion(t, r).Message().Provenance
				assert.Equal(t, want, got.String())
				task, c = &got, start()
			}
			p.Provenance = nil
			await(t, c, p)
			c.end(shell.Exit{})
			assert.Equal(t, "completion/untrusted", completion(t, r).Message().Provenance.String(), "no task at all")
		})
	}
}

func TestAwait_ADurableCommandIsMadeDurableBeforeTheHandleIsReturned(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r, c := detach.NewRegistry(), &durable{command: start()}
		p := policy(r)
		p.Demoting = func(w detach.Work) error {
			assert.Equal(t, []string{w.ID}, c.demoted)
			assert.Equal(t, []string{w.ID}, outstanding(r))
			return nil
		}
		w := await(t, c, p)
		assert.Equal(t, []string{w.ID}, c.demoted)
		c.end(shell.Exit{})
		assert.Equal(t, w.ID, completion(t, r).ID)
	})
}

func TestAwait_WhatCannotBeAccountedForDoesNotRun(t *testing.T) {
	full := errors.New("no space left on device")
	inBubble(t, func(t *testing.T) {
		r, c := detach.NewRegistry(), &durable{command: start(), demoteErr: full}
		w, err := detach.Await(c, policy(r))
		assert.Nil(t, w)
		assert.ErrorIs(t, err, full)
		assert.Empty(t, outstanding(r))
		requireNoReport(t, r)
	})
	for _, stopErr := range []error{nil, errors.New("2 survivors")} {
		inBubble(t, func(t *testing.T) {
			r, c := detach.NewRegistry(), start()
			c.stopErr = stopErr
			p := policy(r)
			p.Demoting = func(detach.Work) error { return full }
			w, err := detach.Await(c, p)
			assert.Nil(t, w)
			assert.ErrorIs(t, err, full)
			if stopErr != nil {
				assert.ErrorContains(t, err, "2 survivors")
			}
			assert.Equal(t, shell.ReasonKilled, c.Exit().Reason)
			assert.Empty(t, outstanding(r))
			requireNoReport(t, r)
		})
	}
}
