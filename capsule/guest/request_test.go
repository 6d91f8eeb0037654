package guest

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequest_Input(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   Request
		want string
	}{
		{"bash", Bash("echo hi"), `{"binary":"bash","command":"echo hi"}`},
		{"args", Request{Binary: "ls", Args: []string{"-l", "a b"}}, `{"binary":"ls","args":["-l","a b"]}`},
		{"no args at all", Request{Binary: "ls", Args: []string{}}, `{"binary":"ls","args":[]}`},
		{"nothing to run", Request{Binary: "ls"}, `{"binary":"ls"}`},
		{"everything", Request{
			Binary: "b", Command: "c", Env: map[string]string{"B": "2", "A": "1"}, Stdin: "s", Cwd: "d",
			TimeoutSecs: 1.5, Background: true, LogPath: "out.log",
		}, `{"binary":"b","command":"c","env":{"A":"1","B":"2"},"stdin":"s","cwd":"d","timeout_secs":1.5,"background":true}`},
		{"whole seconds", Request{Binary: "b", TimeoutSecs: 30}, `{"binary":"b","timeout_secs":30}`},
		{"no such time", Request{Binary: "b", TimeoutSecs: math.NaN()}, `{"binary":"b","timeout_secs":null}`},
		{"strange text", Bash("\"\\\n\t\r\x00\x1f\u2028é\U0001F600</b>&"), ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.in.Input()
			require.NotNil(t, in.Data)
			if tt.want != "" {
				assert.Equal(t, tt.want, *in.Data)
			} else {
				var back Request
				require.NoError(t, json.Unmarshal([]byte(*in.Data), &back))
				assert.Equal(t, tt.in, back)
			}
			if tt.in.LogPath == "" {
				assert.Nil(t, in.LogPath)
			} else {
				assert.Equal(t, tt.in.LogPath, *in.LogPath)
			}
		})
	}
}

// Whatever a guest puts into a request, it is sent as valid JSON that means
// just that. Bytes that are no UTF-8 cannot be sent; they are replaced.
func FuzzRequest_Input(f *testing.F) {
	f.Add("bash", "echo 'hi' \"x\"\n", "A", "\x00\x1b", 1.5)
	f.Add("", "\xff\xfe", "\\", "\u2028", -5e-324)
	f.Fuzz(func(t *testing.T, binary, command, name, value string, secs float64) {
		r := Request{Binary: binary, Command: command, Args: []string{value}, Env: map[string]string{name: value}, TimeoutSecs: secs}
		got := *r.Input().Data
		require.True(t, json.Valid([]byte(got)), got)
		if math.IsNaN(secs) || math.IsInf(secs, 0) {
			return
		}
		want, err := json.Marshal(r)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), got)
	})
}

func TestRun_natively(t *testing.T) {
	r := Run(Bash("true"))
	assert.Equal(t, StatusError, r.Status)
	assert.Contains(t, r.Summary, "GOOS=wasip1")
}
