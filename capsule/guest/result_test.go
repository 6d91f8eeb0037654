package guest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestResult_metadata(t *testing.T) {
	for _, tt := range []struct {
		name    string
		pairs   []Pair
		code    int
		ended   bool
		demoted bool
	}{
		{"none", nil, 0, false, false},
		{"ended", []Pair{{"duration_ms", "5"}, {"exit_code", "137"}, {"exit_code", "1"}}, 137, true, false},
		{"demoted", []Pair{{"work_id", "wrk_1"}}, 0, false, true},
		{"unreadable", []Pair{{"exit_code", "x"}}, 0, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Result{Metadata: tt.pairs}
			code, ok := r.ExitCode()
			assert.Equal(t, tt.code, code)
			assert.Equal(t, tt.ended, ok)
			assert.Equal(t, tt.demoted, r.Demoted())
		})
	}
	_, ok := Result{}.Get("exit_code")
	assert.False(t, ok)
}

func TestNames(t *testing.T) {
	assert.Equal(t, []string{"passed", "failed", "error", "status(3)"},
		[]string{StatusPassed.String(), StatusFailed.String(), StatusError.String(), Status(3).String()})
	assert.Equal(t, "user", OriginUser.String())
	assert.Equal(t, "completion", OriginCompletion.String())
	assert.Equal(t, "system", OriginSystem.String())
	assert.Equal(t, "origin(6)", Origin(6).String())
	assert.Equal(t, "trusted", Trusted.String())
	assert.Equal(t, "untrusted", Untrusted.String())
	assert.Equal(t, "untrusted", Trust(7).String(), "what is not known is not trusted")

	data, err := json.Marshal(map[string]Status{"a": StatusFailed})
	assert.NoError(t, err)
	assert.Equal(t, `{"a":"failed"}`, string(data))
}
