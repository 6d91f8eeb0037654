package host

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/murmur-capsule/murmur/host/internal/precheck"
	"github.com/murmur-capsule/murmur/host/internal/rootfs"
)

// WASI preview 1 is wazero's own, with three changes: what may wait is not the
// guest's computing time; polls are ours (see wasip1_poll.go); and a guest cannot
// make the host's table of files large.

const (
	wasip1Module = wasi_snapshot_preview1.ModuleName

	workdirPath = "/workdir"
)

// wasip1 are wazero's functions, by name. They are taken from a runtime that is
// made for it once: host modules tell their Go functions.
var wasip1 = sync.OnceValues(func() (map[string]api.FunctionDefinition, error) {
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer r.Close(ctx)
	c, err := wasi_snapshot_preview1.NewBuilder(r).Compile(ctx)
	if err != nil {
		return nil, err
	}
	return c.ExportedFunctions(), nil
})

// bindWASI finds what serves an import of WASI.
func (imp *imported) bindWASI() error {
	funcs, err := wasip1()
	if err != nil {
		return fmt.Errorf("internal error: cannot make WASI: %w", err)
	}
	def, ok := funcs[imp.Name]
	if !ok {
		return fmt.Errorf("the guest imports %s, which WASI preview 1 does not have", imp)
	}
	want := precheck.FuncType{Params: def.ParamTypes(), Results: def.ResultTypes()}
	if !want.Equal(imp.typ) {
		return fmt.Errorf("the import %s has the type %s, and should have %s", imp, imp.typ, want)
	}
	imp.wasi, ok = def.GoFunction().(api.GoModuleFunction)
	if !ok {
		return fmt.Errorf("internal error: WASI's %s is no function of Go", imp.Name)
	}
	return nil
}

// wasip1Func is the function that serves an import of WASI.
func wasip1Func(imp *imported) api.GoModuleFunction {
	fn := imp.wasi
	switch imp.Name {
	case "clock_time_get", "clock_res_get", "random_get", "sched_yield",
		"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "proc_exit":
		return fn // they never wait
	case "poll_oneoff":
		fn = api.GoModuleFunc(pollOneoff)
	case "fd_renumber":
		fn = boundedRenumber(fn)
	}
	return api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		m := &instanceOf(ctx).meter
		m.pause()
		fn.Call(ctx, mod, stack)
		m.resume()
	})
}

// The numbers of errors in WASI preview 1.
const (
	wasiSuccess = 0
	wasiBadf    = 8
	wasiFault   = 21
	wasiIntr    = 27
	wasiInval   = 28
)

// maxDescriptor is the highest number that a guest may give a file: wazero's
// table is as long as the highest number in it.
const maxDescriptor = 4095

func boundedRenumber(fn api.GoModuleFunction) api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		if uint32(stack[1]) > maxDescriptor {
			stack[0] = wasiBadf
			return
		}
		fn.Call(ctx, mod, stack)
	})
}

// moduleConfig is what wazero's instance gets.
func (g *Guest) moduleConfig(i *Instance, c InstanceConfig) (wazero.ModuleConfig, error) {
	// Without a source of random numbers the engine seeds one for each instance.
	conf := wazero.NewModuleConfig().WithName("").WithStartFunctions().WithRandSource(rand.Reader)
	if !g.usesWASI() {
		return conf, nil
	}
	conf = conf.WithArgs(c.Args...).
		WithWalltime(walltime, sys.ClockResolution(time.Microsecond)).
		WithNanotime(nanotime, sys.ClockResolution(1))
	if c.Stdin != nil {
		conf = conf.WithStdin(c.Stdin)
	}
	if c.Stdout != nil {
		conf = conf.WithStdout(c.Stdout)
	}
	if c.Stderr != nil {
		conf = conf.WithStderr(c.Stderr)
	}
	env := c.Env
	if c.Workdir != nil {
		mount := rootfs.New(c.Workdir, c.ReadOnly)
		conf = conf.WithFSConfig(wazero.NewFSConfig().(sysfs.FSConfig).WithSysFSMount(mount, workdirPath))
		// Without it programs take the root, which has nothing in it, for where
		// they are.
		env = append([]string{"PWD=" + workdirPath}, env...)
	}
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("the environment has %q, which is not NAME=value", e)
		}
		conf = conf.WithEnv(name, value)
	}
	return conf, nil
}

func (g *Guest) usesWASI() bool {
	for n := range g.imports {
		if g.imports[n].wasi != nil {
			return true
		}
	}
	return false
}

func walltime() (sec int64, nsec int32) {
	now := time.Now()
	return now.Unix(), int32(now.Nanosecond())
}

func nanotime() int64 { return instant() }
