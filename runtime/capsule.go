package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"sort"

	"github.com/murmur-capsule/murmur/capsule"
	"github.com/murmur-capsule/murmur/host"
	"github.com/murmur-capsule/murmur/host/toolrun"
)

// MaxGuest is the greatest size of a guest's file, in bytes.
const MaxGuest = 256 << 20

// A Capsule is a compiled guest with its manifest, ready to be started any
// number of times.
type Capsule struct {
	manifest *capsule.Manifest
	guest    *host.Guest
	way      host.Way
	sha256   string
}

// Manifest is what the capsule was loaded from. It must not be changed.
func (c *Capsule) Manifest() *capsule.Manifest { return c.manifest }

// Guest is the compiled guest.
func (c *Capsule) Guest() *host.Guest { return c.guest }

// Way is how the guest takes its work.
func (c *Capsule) Way() host.Way { return c.way }

// Close frees the compiled guest. Sessions of it must have ended.
func (c *Capsule) Close(ctx context.Context) error { return c.guest.Close(ctx) }

// Load reads and compiles the guest that m names. The error says what is wrong
// with the file: its type, its contents, or how it takes work.
func (r *Runtime) Load(ctx context.Context, m *capsule.Manifest) (*Capsule, error) {
	guest, sha256, err := r.compile(ctx, m)
	if err != nil {
		return nil, err
	}
	way, err := guest.Way()
	if err != nil {
		_ = guest.Close(ctx)
		return nil, fmt.Errorf("cannot run guest %s: %w", m.GuestPath(), err)
	}
	return &Capsule{manifest: m, guest: guest, way: way, sha256: sha256}, nil
}

// Inspect is [Runtime.Load] for a guest that is to be looked at, whether it
// takes work or not. The caller closes it.
func (r *Runtime) Inspect(ctx context.Context, m *capsule.Manifest) (*host.Guest, error) {
	guest, _, err := r.compile(ctx, m)
	return guest, err
}

// Services tells what serves each import of a guest in a session.
func (r *Runtime) Services(g *host.Guest) []host.Service {
	plugins := []*host.Plugin{toolrun.Plugin(shellTool{})}
	if way, err := g.Way(); err == nil && way == host.Looper {
		plugins = append(plugins, (&guestLoop{}).plugin())
	}
	if g.IsComponent() {
		// Without a configuration nothing in it can be wrong.
		wasi, _ := componentWASI(host.InstanceConfig{})
		plugins = append(plugins, wasi...)
	}
	return g.Services(plugins)
}

func (r *Runtime) compile(ctx context.Context, m *capsule.Manifest) (guest *host.Guest, digest string, err error) {
	if err := m.Validate(); err != nil {
		return nil, "", err
	}
	path := m.GuestPath()
	wasm, err := ReadGuest(path)
	if err != nil {
		return nil, "", fmt.Errorf("cannot load guest %s: %w", path, err)
	}
	guest, err = r.engine.Load(ctx, wasm, host.LoadOptions{
		Name:         m.Name,
		ComputeLimit: m.Guest.Compute,
		MemoryLimit:  m.Guest.Memory,
		Progress:     r.opts.CompileProgress,
	})
	if err != nil {
		return nil, "", fmt.Errorf("cannot load guest %s: %w", path, err)
	}
	sum := sha256.Sum256(wasm)
	return guest, hex.EncodeToString(sum[:]), nil
}

// ReadGuest reads a guest's file: a regular one of at most [MaxGuest] bytes. The
// path may name a device, or a pipe that never ends.
func ReadGuest(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("it is a directory")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file")
	case info.Size() > MaxGuest:
		return nil, fmt.Errorf("it has %d bytes, over the limit of %d", info.Size(), MaxGuest)
	}
	return os.ReadFile(path)
}

func envList(env map[string]string) []string {
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	sort.Strings(list)
	return list
}
