package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/murmur-capsule/murmur/runtime/internal/jobs"
	"github.com/murmur-capsule/murmur/runtime/internal/proctree"
)

// pidReuseEnv makes the test binary the init of a pid namespace: it names a
// directory for a store.
const pidReuseEnv = "SUPERVISOR_TEST_PID_REUSE"

func pidNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
}

func pidReuse(dir string) int {
	if err := reusePID(dir); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("the bystander lives")
	return 0
}

// reusePID records a command, lets it end, gives its pid to a bystander, and
// does to the record all that may be done.
func reusePID(dir string) error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, "")
	}
	if err != nil {
		return fmt.Errorf("cannot mount proc: %w", err)
	}
	victim := exec.Command("/bin/sleep", "0.05")
	if err := victim.Start(); err != nil {
		return err
	}
	pid := victim.Process.Pid
	id, err := proctree.Capture(pid)
	if err != nil {
		return err
	}
	if err := victim.Wait(); err != nil {
		return err
	}
	bystander, err := spawnAs(pid)
	if err != nil {
		return err
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	if v := (Host{}).Verify(jobs.Identity(id)); v != jobs.Foreign {
		return fmt.Errorf("the verdict is %s", v)
	}
	if err := actOn(dir, jobs.Identity(id)); err != nil {
		return err
	}
	if err := unix.Kill(pid, 0); err != nil {
		return err
	}
	state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil || !strings.Contains(string(state), ") S ") {
		return fmt.Errorf("the bystander is dead: %s", state)
	}
	return nil
}

// spawnAs starts a process under the pid.
func spawnAs(pid int) (*exec.Cmd, error) {
	for range 50 {
		last := []byte(strconv.Itoa(pid - 1))
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", last, 0); err != nil {
			return nil, err
		}
		c := exec.Command("/bin/sleep", "60")
		if err := c.Start(); err != nil {
			return nil, err
		}
		if c.Process.Pid == pid {
			return c, nil
		}
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	return nil, errors.New("the pid was not to be had")
}

func actOn(dir string, id jobs.Identity) error {
	ctx := context.Background()
	started := time.Now().Add(-time.Hour)
	for n, act := range []func(*jobs.Store, jobs.Handle, jobs.Pass) error{
		func(s *jobs.Store, _ jobs.Handle, p jobs.Pass) error { _, err := s.Retire(ctx, p); return err },
		func(s *jobs.Store, _ jobs.Handle, p jobs.Pass) error { _, err := s.Reconcile(ctx, p); return err },
		func(_ *jobs.Store, h jobs.Handle, p jobs.Pass) error { _, err := h.Stop(ctx, p); return err },
		func(_ *jobs.Store, h jobs.Handle, _ jobs.Pass) error {
			return adopt(h.Record(), streams{Dir: dir, Limit: 1}).Stop(ctx, "killed")
		},
		func(_ *jobs.Store, h jobs.Handle, _ jobs.Pass) error {
			_, err := Host{}.Teardown(ctx, h.Record())
			return err
		},
	} {
		store, err := jobs.Open(filepath.Join(dir, strconv.Itoa(n)))
		if err != nil {
			return err
		}
		h, err := store.Create(jobs.Record{
			WorkID: fmt.Sprintf("wrk_%032x", n), Launch: fmt.Sprintf("cmd_%d", n), Nonce: strings.Repeat("0", 32),
			Session: "ses_1", Capsule: "demo", Workdir: dir, Identity: id, StartedAt: started.UnixMilli(), MaxRuntimeMS: 1,
		})
		if err != nil {
			return err
		}
		if err := act(store, h, jobs.Pass{Processes: Host{}, Now: time.Now()}); err != nil {
			return fmt.Errorf("act %d: %w", n, err)
		}
	}
	return nil
}
