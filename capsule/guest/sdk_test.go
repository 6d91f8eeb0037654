package guest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHandler_roundTrip(t *testing.T) {
	var asked string
	h := newMiniHost(t, "runner", func(in string) (string, string) { asked = in; return "sum", "out: " + in })
	text, failed := h.call("echo 'hi'", 0, 0)
	assert.False(t, failed)
	assert.JSONEq(t, `{"binary":"bash","command":"echo 'hi'"}`, asked)
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	assert.Equal(t, map[string]any{
		"status": "error", "summary": "sum", "data": "out: " + asked, "truncated": true,
		"metadata": map[string]any{"exit_code": "7"},
	}, got)
}

func TestHandler_completion(t *testing.T) {
	h := newMiniHost(t, "runner", nil)
	text, failed := h.call("Background shell command finished.\n…", 4, 1)
	assert.False(t, failed)
	assert.Equal(t, "Background shell command finished.\n…", text)
}

// Strings of a megabyte go through, and from the second on nothing that the
// guest does inside realloc calls an import: a strict host would trap it.
func TestHandler_largeStrings(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	h := newMiniHost(t, "runner", func(string) (string, string) { return "", big })
	for i := range 50 {
		text, failed := h.call(big, 4, 0)
		require.False(t, failed)
		require.True(t, text == big)
		text, _ = h.call(`{"binary":"x"}`, 0, 0)
		require.Contains(t, text, big)
		if i == 0 {
			h.strayed = 0
		}
	}
	assert.Zero(t, h.strayed)
}

// Ten thousand calls from several goroutines, with collections throughout: no
// string that the guest was handed changes, although the answers grow, so that
// realloc keeps running out of what was set aside.
func TestHandler_underAHardCollector(t *testing.T) {
	underAHardCollector(t, func(call int) int { return call * 11 % (1 << 18) })
}

// Once an answer was large, no import is called in the middle of realloc however
// the collector runs.
func TestHandler_reallocCallsNothing(t *testing.T) {
	h := underAHardCollector(t, func(call int) int {
		if call == 1 {
			return 1 << 18
		}
		return call * 11 % (1 << 18)
	})
	assert.Zero(t, h.strayed)
}

// underAHardCollector runs the stress with answers whose size depends on the
// call's number. Readings of the clock count from the second call on.
func underAHardCollector(t *testing.T, size func(call int) int) *miniHost {
	calls := 0
	var h *miniHost
	h = newMiniHost(t, "gcstress", func(request string) (string, string) {
		if calls++; calls == 2 {
			h.strayed = 0
		}
		var r struct{ Binary string }
		require.NoError(t, json.Unmarshal([]byte(request), &r))
		return r.Binary + " is not allowed", strings.Repeat("d", size(calls))
	})
	text, failed := h.call("10000", 0, 0)
	require.False(t, failed, text)
	var got struct{ Calls, Bad, Collections int }
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	assert.Equal(t, 10_000, calls)
	assert.Equal(t, 10_000, got.Calls)
	assert.Zero(t, got.Bad)
	assert.Greater(t, got.Collections, 1000)
	return h
}
