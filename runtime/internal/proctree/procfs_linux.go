package proctree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxEnviron bounds what is read of one process's environment, which may be as
// large as its author likes.
const maxEnviron = 256 << 10

var procDir = sync.OnceValues(func() (int, error) {
	fd, err := unix.Open("/proc", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: "/proc", Err: err}
	}
	return fd, nil
})

var bootID = sync.OnceValues(func() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
})

// readProc reads a file of a process into buf, as far as it fits.
func readProc(pid int, name string, buf []byte) ([]byte, error) {
	dir, err := procDir()
	if err != nil {
		return nil, err
	}
	fd, err := openRetry(dir, strconv.Itoa(pid)+"/"+name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return readFull(fd, buf)
}

func openRetry(dir int, name string) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func readFull(fd int, buf []byte) ([]byte, error) {
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return buf[:n], nil
}

// lookup shows the process that has pid now.
func lookup(pid int) (Proc, error) {
	var buf [1024]byte // far more than a line can be
	b, err := readProc(pid, "stat", buf[:])
	if err != nil {
		return Proc{}, err
	}
	p, err := parseStat(b)
	if err != nil {
		return Proc{}, err
	}
	p.BootID, err = bootID()
	return p, err
}

// noProcess reports whether err says that a process does not exist.
func noProcess(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// Capture returns the identity of the process that has pid now. A zombie has
// one too.
func Capture(pid int) (Identity, error) {
	if pid < 1 {
		return Identity{}, fmt.Errorf("cannot identify pid %d: not a process", pid)
	}
	p, err := lookup(pid)
	if err != nil {
		return Identity{}, fmt.Errorf("cannot identify pid %d: %w", pid, err)
	}
	return p.Identity, nil
}

// Stopped says whether a signal has stopped the process that has pid now.
func Stopped(pid int) bool {
	p, err := lookup(pid)
	return err == nil && p.Stopped
}

// complete reports whether id can be compared with a process at all.
func (id Identity) complete() bool {
	return id.PID > 1 && id.StartTime > 0 && id.BootID != ""
}

// Verify tells whether the process that id names lives.
func Verify(id Identity) Verdict {
	if !id.complete() {
		return Unverifiable
	}
	boot, err := bootID()
	if err != nil || boot == "" {
		return Unverifiable
	}
	if boot != id.BootID {
		return Gone
	}
	p, err := lookup(id.PID)
	if noProcess(err) {
		return Gone
	}
	if err != nil {
		return Unverifiable
	}
	return judge(id, p)
}

// judge compares id with the process that has its pid, within one boot.
func judge(id Identity, p Proc) Verdict {
	switch {
	case p.StartTime != id.StartTime:
		return Foreign
	case p.Zombie:
		return Gone
	case id.PGID != 0 && p.PGID != id.PGID:
		return Foreign
	}
	return Owned
}

// markOf returns the mark in the environment that p started with, or "" if it
// has none. It is not known of a process that has gone, nor, for a moment that is
// mostly waited out, of one that executes a new program: it has no environment
// then, like one that was started with none.
func markOf(p Proc) (mark string, known bool) {
	if p.Kernel {
		return "", true
	}
	buf := environs.Get().(*[maxEnviron]byte)
	defer environs.Put(buf)
	for range 4 {
		b, err := readProc(p.PID, "environ", buf[:])
		if err != nil || len(b) > 0 {
			return findMark(b), !noProcess(err)
		}
		time.Sleep(100 * time.Microsecond)
	}
	return "", false
}

var environs = sync.Pool{New: func() any { return new([maxEnviron]byte) }}

func findMark(environ []byte) string {
	for len(environ) > 0 {
		var entry []byte
		entry, environ, _ = bytes.Cut(environ, []byte{0})
		if mark, ok := bytes.CutPrefix(entry, []byte(MarkVar+"=")); ok {
			return string(mark)
		}
	}
	return ""
}

// process names p whatever its group is by now.
func (p Proc) process() Identity {
	id := p.Identity
	id.PGID = 0
	return id
}
