package containment

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// namespaces are a network and an IPC namespace that the commands of a session
// share: a server in one command can be reached from another, over a loopback
// interface that is the only one there is. A nil value joins nothing.
type namespaces struct {
	net, ipc *os.File
}

// newNamespaces makes them on a thread of their own; it takes root.
func newNamespaces() (*namespaces, error) {
	ns := &namespaces{}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWIPC); err != nil {
			return fmt.Errorf("cannot make namespaces: %w", err)
		}
		if err := loopbackUp(); err != nil {
			return err
		}
		var err error
		if ns.net, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return err
		}
		ns.ipc, err = os.Open("/proc/thread-self/ns/ipc")
		return err
	})
	if err != nil {
		ns.close()
		return nil, err
	}
	return ns, nil
}

// join moves the calling thread into the namespaces.
func (ns *namespaces) join() error {
	if ns == nil {
		return nil
	}
	if err := unix.Setns(int(ns.net.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("cannot join the network namespace: %w", err)
	}
	if err := unix.Setns(int(ns.ipc.Fd()), unix.CLONE_NEWIPC); err != nil {
		return fmt.Errorf("cannot join the IPC namespace: %w", err)
	}
	return nil
}

func (ns *namespaces) close() {
	if ns == nil {
		return
	}
	for _, f := range []*os.File{ns.net, ns.ipc} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// loopbackUp brings up the loopback interface of the calling thread's network
// namespace, which is new and has nothing else.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot bring up the loopback interface: %w", err)
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(request))); e != 0 {
		return fmt.Errorf("cannot bring up the loopback interface: %w", e)
	}
	return nil
}
