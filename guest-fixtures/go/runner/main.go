// Command runner is a guest that runs what it is told: the message of a task is
// a shell request in JSON, or else a bash command, and its result is the tool's
// result in JSON. The result of a completion is the completion's own text.
package main

import (
	"encoding/json"
	"strings"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/handler"
)

func init() { handler.Handle(handle) }

func main() {}

func handle(t guest.Task) (string, error) {
	if t.Origin == guest.OriginCompletion {
		return t.Message, nil
	}
	out, err := json.Marshal(report(guest.Call(input(t.Message))))
	return string(out), err
}

// input sends a JSON object to the shell as it is, so that malformed requests
// can be tried too.
func input(message string) guest.Input {
	if strings.HasPrefix(strings.TrimSpace(message), "{") {
		return guest.Input{Data: &message}
	}
	return guest.Bash(message).Input()
}

type result struct {
	Status    guest.Status      `json:"status"`
	Summary   string            `json:"summary,omitempty"`
	Data      string            `json:"data,omitempty"`
	DataPath  string            `json:"data_path,omitempty"`
	Truncated bool              `json:"truncated"`
	Metadata  map[string]string `json:"metadata"`
}

func report(r guest.Result) result {
	metadata := make(map[string]string, len(r.Metadata))
	for _, p := range r.Metadata {
		metadata[p.Key] = p.Value
	}
	return result{r.Status, r.Summary, r.Data, r.DataPath, r.Truncated, metadata}
}
