package detach

import "github.com/murmur-capsule/murmur/runtime/internal/shell"

// DemotionResult answers the call whose command has become w. It is of the same
// length for any two works, names no file, and is short: the guest's model pays
// for each of them.
func DemotionResult(w Work) shell.Result {
	summary := "Still running, in the background, as " + w.ID + "."
	data := "The command did not finish in time. It runs on in the background as " + w.ID +
		". Its result will arrive later as a separate task: it cannot be polled or asked about. Go on with other work."
	return shell.Result{
		Status:   shell.Passed,
		Summary:  &summary,
		Data:     &data,
		Metadata: []shell.Pair{{Key: "work_id", Value: w.ID}},
	}
}
