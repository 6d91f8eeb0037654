package component

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

// FuzzInstantiate loads and instantiates whatever it is given, with every
// import a stub, and calls what is exported without parameters. Nothing may
// panic; guest loops are cut off.
func FuzzInstantiate(f *testing.F) {
	for _, data := range knownBinaries(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		ctx, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer stop()
		r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter().
			WithCoreFeatures(api.CoreFeaturesV2|experimental.CoreFeaturesExtendedConst).
			WithMemoryLimitPages(64).WithCloseOnContextDone(true))
		defer func() { require.NoError(t, r.Close(context.Background())) }()
		small := func(module []byte) ([]byte, error) {
			_, err := precheck.Check(module, precheck.Limits{MemoryPages: 64, TableElements: 1000})
			return module, err
		}
		c, err := Load(ctx, r, data, Options{Prepare: small})
		if err != nil {
			return
		}
		i, err := c.Instantiate(ctx, InstanceConfig{Stubs: true})
		if err != nil {
			return
		}
		callAll(ctx, i.Exports())
		require.NoError(t, i.Close(context.Background()))
	})
}

// callAll calls every function that takes nothing.
func callAll(ctx context.Context, items Items) {
	for _, item := range items {
		switch v := item.(type) {
		case Items:
			callAll(ctx, v)
		case *Func:
			if v.Type() != nil && len(v.Type().Params) == 0 {
				_ = v.Call(ctx, nil, nil)
			}
		}
	}
}
