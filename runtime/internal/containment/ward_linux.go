package containment

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A ward is the sealed namespaces of a session, with a root composed once. An
// init of ours keeps them; threads enter them and fork commands there. That
// costs a command a few system calls, where namespaces of its own cost a program
// start and the kernel's teardown.
type ward struct {
	pid        int
	seal       *seal
	namespaces []wardNamespace
}

type wardNamespace struct {
	file *os.File
	kind int
}

// openWard starts the init and opens its namespaces.
func openWard(p Profile) (*ward, error) {
	if err := checkHook(); err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	f := fork{attr: syscall.ProcAttr{
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	}}
	w := &ward{}
	order := sealOrder{Profile: p, Env: []string{"TMPDIR=" + p.Inside(p.Temp)}}
	if w.seal, _, err = startInit(&f, order, nil); err != nil {
		return nil, err
	}
	w.pid = f.pid
	for name, kind := range map[string]int{
		"mnt": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID, "ipc": unix.CLONE_NEWIPC, "uts": unix.CLONE_NEWUTS, "net": unix.CLONE_NEWNET,
	} {
		if kind == unix.CLONE_NEWNET && p.Network == NetworkHost {
			continue
		}
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", w.pid, name))
		if err != nil {
			w.close()
			return nil, fmt.Errorf("cannot open the session's namespaces: %w", err)
		}
		w.namespaces = append(w.namespaces, wardNamespace{f, kind})
	}
	// The mount namespace is last: it takes away the paths of the others.
	slices.SortFunc(w.namespaces, func(a, b wardNamespace) int { return b.order() - a.order() })
	return w, nil
}

func (n wardNamespace) order() int {
	if n.kind == unix.CLONE_NEWNS {
		return 0
	}
	return 1
}

// join moves the calling thread into the namespaces, and its children with it. A
// nil ward joins nothing.
func (w *ward) join() error {
	if w == nil {
		return nil
	}
	// A thread that shares its root with others cannot change it.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("cannot enter the session's namespaces: %w", err)
	}
	for _, n := range w.namespaces {
		if err := unix.Setns(int(n.file.Fd()), n.kind); err != nil {
			return fmt.Errorf("cannot enter the session's namespaces: %w", err)
		}
	}
	return nil
}

// close lets go of the init, which ends when no process of the session is left.
func (w *ward) close() {
	if w == nil {
		return
	}
	for _, n := range w.namespaces {
		_ = n.file.Close()
	}
	_ = errors.Join(w.seal.orders.Close(), w.seal.file.Close())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = await(w.pid)
	}()
	// With no process left it ends at once; with some it outlives the session.
	select {
	case <-ended:
	case <-time.After(time.Second / 4):
	}
}
