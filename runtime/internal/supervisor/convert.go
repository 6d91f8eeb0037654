package supervisor

import (
	"time"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
	"github.com/murmur-capsule/murmur/runtime/internal/shell"
)

// The records know none of the types of the packages that run commands, so that
// a change to those never changes what is on disk.

func toOutput(o shell.Output) jobs.Output {
	return jobs.Output{
		StdoutPath: o.StdoutPath, StderrPath: o.StderrPath,
		StdoutBytes: o.StdoutBytes, StderrBytes: o.StderrBytes,
		Truncated: o.Truncated,
	}
}

func toOutcome(e shell.Exit, startedAt int64) jobs.Outcome {
	o := jobs.Outcome{
		ExitCode: e.Code, Signal: e.Signal, Reason: jobs.Reason(e.Reason), Limit: e.Limit, WaitErr: e.WaitErr,
		LeftRunning: toSurvivors(e.LeftRunning), Survivors: toSurvivors(e.Survivors),
		DurationMS: e.Duration.Milliseconds(),
		EndedAt:    time.UnixMilli(startedAt).Add(e.Duration).UnixMilli(),
	}
	if o.Reason != "" {
		o.ExitCode = -1
	}
	return o
}

func toSurvivors(list []shell.Survivor) []jobs.Survivor {
	var out []jobs.Survivor
	for _, s := range list {
		out = append(out, jobs.Survivor(s))
	}
	return out
}

// ToExit is the outcome of a record as a Runner would have told it.
func ToExit(o jobs.Outcome) shell.Exit {
	return shell.Exit{
		Code: o.ExitCode, Signal: o.Signal, Reason: shell.Reason(o.Reason), Limit: o.Limit, WaitErr: o.WaitErr,
		LeftRunning: fromSurvivors(o.LeftRunning), Survivors: fromSurvivors(o.Survivors),
		Duration: time.Duration(o.DurationMS) * time.Millisecond,
	}
}

func fromSurvivors(list []jobs.Survivor) []shell.Survivor {
	var out []shell.Survivor
	for _, s := range list {
		out = append(out, shell.Survivor(s))
	}
	return out
}

func fromProcs(list []proctree.Proc) []shell.Survivor {
	var out []shell.Survivor
	for _, p := range list {
		out = append(out, shell.Survivor{PID: p.PID, Name: p.Name})
	}
	return out
}
