package host

import (
	"github.com/murmur-capsule/murmur/host/internal/component"
	"github.com/murmur-capsule/murmur/host/internal/precheck"
)

type (
	// A ComponentInfo shows the inside of a component.
	ComponentInfo = component.Info
	// A ModuleInfo shows a core module.
	ModuleInfo = component.ModuleInfo
	// A Producer is a tool that made a file, or a part of it.
	Producer = component.Producer
)

// A FileInfo shows what is in a guest's file. Either Component is set, or it is a
// core module.
type FileInfo struct {
	Component *ComponentInfo

	Module ModuleInfo
	// Imports and Exports are the functions of a core module, and Functions is how
	// many it has of its own.
	Imports, Exports []FuncInfo
	Functions        int
}

// Inspect looks into a guest's file without compiling it. The errors are those of
// [Engine.Load]; a file may be shown that cannot be loaded.
func Inspect(wasm []byte) (*FileInfo, error) {
	if component.Detect(wasm) == component.FormComponent {
		info, err := component.Inspect(wasm)
		if err != nil {
			return nil, err
		}
		return &FileInfo{Component: info}, nil
	}
	m, err := precheck.Check(wasm, precheck.Limits{})
	if err != nil {
		return nil, err
	}
	info := &FileInfo{Functions: m.FunctionCount(), Module: ModuleInfo{
		Size: len(wasm), Imports: len(m.Imports()), Exports: len(m.Exports()), Producers: component.ModuleProducers(wasm),
	}}
	for _, x := range m.Imports() {
		if x.Kind == precheck.ExternFunc {
			info.Imports = append(info.Imports, FuncInfo{x.Module, x.Name, x.Func.String()})
		}
	}
	for _, x := range m.Exports() {
		if x.Kind == precheck.ExternFunc {
			info.Exports = append(info.Exports, FuncInfo{Name: x.Name, Signature: x.Func.String()})
		}
	}
	return info, nil
}
