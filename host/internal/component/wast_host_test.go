package component

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/murmur-capsule/murmur/host/internal/canon"
)

// suiteModule is a component that exports the core module which scripts import
// from the host as "simple-module": a global g of 100 and a function f that
// returns 101.
var suiteModule = appendSection([]byte("\x00asm\x0d\x00\x01\x00"), 1, []byte("\x00asm\x01\x00\x00\x00"+
	"\x01\x05\x01\x60\x00\x01\x7f"+ // (func (result i32))
	"\x03\x02\x01\x00"+
	"\x06\x07\x01\x7f\x00\x41\xe4\x00\x0b"+ // (global i32 (i32.const 100))
	"\x07\x09\x02\x01f\x00\x00\x01g\x03\x00"+
	"\x0a\x07\x01\x05\x00\x41\xe5\x00\x0b"))

// suiteHost are the imports that the scripts of the reference implementation
// expect of its test host.
func suiteHost(t *testing.T, runtime wazero.Runtime) Items {
	t.Helper()
	binary := appendSection(slices.Clip(suiteModule), 11, []byte("\x01\x00\x01m\x00\x11\x00\x00"))
	c, err := Load(context.Background(), runtime, binary, Options{})
	require.NoError(t, err)
	i, err := c.Instantiate(context.Background(), InstanceConfig{})
	require.NoError(t, err)
	u32 := canon.Prim(canon.KindU32)
	host := suiteResources(t)
	host["return-three"] = constant(t, "return-three", 3)
	host["simple-module"] = i.Exports()["m"]
	host["nested"] = Items{"return-four": constant(t, "return-four", 4)}
	return Items{
		"host":            host,
		"host-return-two": constant(t, "host-return-two", 2),
		"host-echo-u32": goFunc(t, "host-echo-u32", []*canon.Type{u32}, u32, func(args []canon.Value) (canon.Value, error) {
			return args[0], nil
		}),
	}
}

func constant(t *testing.T, name string, n uint64) *HostFunc {
	return goFunc(t, name, nil, canon.Prim(canon.KindU32), func([]canon.Value) (canon.Value, error) { return canon.Bits(n), nil })
}

func goFunc(t *testing.T, name string, params []*canon.Type, result *canon.Type, body func([]canon.Value) (canon.Value, error)) *HostFunc {
	t.Helper()
	ft := &canon.FuncType{Result: result}
	for i, p := range params {
		ft.Params = append(ft.Params, canon.Param{Name: fmt.Sprintf("p%d", i), Type: p})
	}
	plan, err := canon.NewDynamicFunc(name, ft, func(_ context.Context, _ any, args []canon.Value, out *canon.Value) error {
		v, err := body(args)
		if out != nil {
			*out = v
		}
		return err
	})
	require.NoError(t, err)
	return &HostFunc{Plan: plan}
}

// suiteResources are resource1 and resource2, and resource1 under a second
// name.
func suiteResources(t *testing.T) Items {
	var drops, last uint64
	r1 := &canon.Resource{Name: "resource1", Drop: func(_ context.Context, r canon.Rep) error {
		drops, last = drops+1, r.Go.(uint64)
		return nil
	}}
	r2 := &canon.Resource{Name: "resource2"}
	u32 := canon.Prim(canon.KindU32)
	own := canon.OwnOf(&canon.ResourceType{Name: "resource1", Fixed: r1})
	borrow := canon.BorrowOf(&canon.ResourceType{Name: "resource1", Fixed: r1})
	same := func(args []canon.Value) (canon.Value, error) {
		if got, want := args[0].Rep().Go, args[1].Uint(); got != want {
			return canon.Value{}, fmt.Errorf("resource is %v, expected %d", got, want)
		}
		return canon.Value{}, nil
	}
	nothing := func([]canon.Value) (canon.Value, error) { return canon.Value{}, nil }
	return Items{
		"resource1": r1, "resource2": r2, "resource1-again": r1,
		"[constructor]resource1": goFunc(t, "new", []*canon.Type{u32}, own, func(args []canon.Value) (canon.Value, error) {
			return canon.Handle(canon.Rep{Go: args[0].Uint()}), nil
		}),
		"[static]resource1.assert":      goFunc(t, "assert", []*canon.Type{own, u32}, nil, same),
		"[static]resource1.last-drop":   goFunc(t, "last-drop", nil, u32, func([]canon.Value) (canon.Value, error) { return canon.Bits(last), nil }),
		"[static]resource1.drops":       goFunc(t, "drops", nil, u32, func([]canon.Value) (canon.Value, error) { return canon.Bits(drops), nil }),
		"[method]resource1.simple":      goFunc(t, "simple", []*canon.Type{borrow, u32}, nil, same),
		"[method]resource1.take-borrow": goFunc(t, "take-borrow", []*canon.Type{borrow, borrow}, nil, nothing),
		"[method]resource1.take-own":    goFunc(t, "take-own", []*canon.Type{borrow, own}, nil, nothing),
	}
}
