package precheck_test

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	pre "github.com/murmur-capsule/murmur/host/internal/precheck"
)

// FuzzCheck: whatever the bytes, there is an answer; what passes can be
// rewritten, the result passes again, and the engine says the same of both.
func FuzzCheck(f *testing.F) {
	f.Add(everything())
	f.Add(single(switchOf(3)))
	for _, data := range endless {
		f.Add(data)
	}
	for id := byte(0); id < 13; id++ {
		f.Add(module(section(id, []byte{0xff, 0xff, 0xff, 0xff, 0x0f})))
	}
	ctx := context.Background()
	conf := wazero.NewRuntimeConfigInterpreter().WithDebugInfoEnabled(false).WithMemoryLimitPages(16).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := pre.Check(data, pre.Limits{MemoryPages: 16, TableElements: 1000})
		if err != nil {
			return
		}
		m.Names().Function(1)
		plain := m.Rewrite(pre.Rewrite{Functions: "host", EmptyModule: "empty"})
		controlled := m.Rewrite(pre.Rewrite{Functions: "host", EmptyModule: "empty", Control: true})
		r := wazero.NewRuntimeWithConfig(ctx, conf)
		defer r.Close(ctx)
		_, err = r.CompileModule(ctx, plain.Bytes)
		_, err2 := r.CompileModule(ctx, controlled.Bytes)
		if err == nil && err2 != nil {
			t.Errorf("the engine takes the module without checks, and not with them: %v", err2)
		}
		for _, w := range []pre.Rewritten{plain, controlled} {
			if _, err := pre.Check(w.Bytes, pre.Limits{MemoryPages: 16, TableElements: 1000}); err != nil {
				t.Errorf("a rewritten module does not pass again: %v", err)
			}
		}
	})
}
