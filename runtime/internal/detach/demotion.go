package detach

// A Result is what a call answers whose command was demoted. Its status is
// passed, it is not truncated, and it names no file.
type Result struct {
	Summary, Data string
	// Metadata is one pair.
	Metadata [1][2]string
}

// DemotionResult answers the call whose command has become w. It is of the same
// length for any two works, and short: the guest's model pays for each of them.
func DemotionResult(w Work) Result {
	return Result{
		Summary: "Still running, in the background, as " + w.ID + ".",
		Data: "The command did not finish in time. It runs on in the background as " + w.ID +
			". Its result will arrive later as a separate task: it cannot be polled or asked about. Go on with other work.",
		Metadata: [1][2]string{{"work_id", w.ID}},
	}
}
