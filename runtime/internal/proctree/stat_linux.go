package proctree

import (
	"bytes"
	"fmt"
	"strconv"
)

// Positions of the fields of /proc/PID/stat behind the name: what proc(5) calls
// field 3 is number 0 here.
const (
	statState     = 0
	statPPID      = 1
	statPGID      = 2
	statSID       = 3
	statFlags     = 6
	statThreads   = 17
	statStartTime = 19
)

// kernelThread is the kernel's PF_KTHREAD.
const kernelThread = 0x00200000

// parseStat reads one /proc/PID/stat. The name in it is chosen by the process
// and may hold blanks, newlines and parentheses; everything behind it is
// numbers, so it ends at the last parenthesis.
func parseStat(b []byte) (Proc, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 1 || end < open {
		return Proc{}, fmt.Errorf("cannot read stat: no name in %.40q", b)
	}
	f := statFields{rest: b[end+1:]}
	pid := parseInt(bytes.TrimSpace(b[:open]), &f.err)
	state := f.bytes(statState)
	p := Proc{
		Identity: Identity{PID: pid},
		Name:     string(b[open+1 : end]),
		PPID:     f.int(statPPID),
	}
	p.PGID, p.SID = f.int(statPGID), f.int(statSID)
	p.Kernel = f.int(statFlags)&kernelThread != 0
	threads := f.int(statThreads)
	p.StartTime = uint64(f.int(statStartTime))
	if f.err != nil {
		return Proc{}, fmt.Errorf("cannot read stat of pid %d: %w", pid, f.err)
	}
	// A main thread that called pthread_exit is shown as a zombie while the
	// other threads of its process run on.
	switch string(state) {
	case "Z", "X", "x":
		p.Zombie = threads <= 1
	case "T":
		p.Stopped = true
	}
	return p, nil
}

// statFields reads fields by ascending position and keeps the first error.
type statFields struct {
	rest []byte
	next int
	err  error
}

func (f *statFields) bytes(pos int) []byte {
	var field []byte
	for ; f.next <= pos; f.next++ {
		f.rest = bytes.TrimLeft(f.rest, " ")
		end := bytes.IndexAny(f.rest, " \n")
		if end <= 0 {
			f.err = fmt.Errorf("no field %d", f.next+3)
			f.rest = nil
			return nil
		}
		field, f.rest = f.rest[:end], f.rest[end:]
	}
	return field
}

func (f *statFields) int(pos int) int {
	field := f.bytes(pos)
	if f.err != nil {
		return 0
	}
	return parseInt(field, &f.err)
}

func parseInt(b []byte, err *error) int {
	n, e := strconv.Atoi(string(b))
	if e != nil && *err == nil {
		*err = e
	}
	return n
}
