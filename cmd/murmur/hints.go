package main

import (
	"errors"
	"io/fs"

	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/runtime"
)

// hints are what to do about errors whose cure is known; the first that fits
// is shown.
var hints = []struct {
	when func(error) bool
	hint string
}{
	{because(host.ErrCompileTimeout), "a guest that was compiled once is kept in the cache: see whether the machine is busy, and try again"},
	{because(runtime.ErrSessionEnded), "with --until-idle the session goes on until every task is through"},
	{says("no such session"), "murmur trace shows the last session; --state-dir chooses where sessions are looked for"},
	{says("is still running, as process"), "end that process first, or start without --resume"},
	{says("cannot use state directory"), "choose another with --state-dir"},
	{refused, "murmur doctor shows what this host can give, and how to get more"},
	{says("cannot open the workdir: lstat"), "make the folder first, or leave --workdir out for a fresh one"},
	{says("which no command may reach"), "choose another directory, or capabilities.containment: advisory, which contains nothing"},
	{because(fs.ErrPermission), "see whose it is with ls -ld"},
}

// refused says whether this host cannot give the containment that is asked for.
func refused(err error) bool {
	_, ok := errors.AsType[*runtime.ContainmentError](err)
	return ok
}
