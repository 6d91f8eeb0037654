// Package tinygo is the root of the bindings for guests built by TinyGo, made
// from the WIT by wit-bindgen-go; "go generate" makes them again. A guest of the
// usual kind sets handler.Exports.Handle of murmur/task/handler in an init
// function, one with a loop of its own sets run.Exports.Run of
// murmur/capsule/run and uses murmur/task/queue; both call the shell tool with
// murmur/tool/run.
//
// The standard Go toolchain cannot build these bindings for WebAssembly: it
// refuses functions of the host that take pointers to structs with strings.
// Package guest serves it instead.
package tinygo

//go:generate go tool wit-bindgen-go generate --world capsule --out . --package-root github.com/murmur-capsule/murmur/capsule/guest/tinygo ../../../wit
//go:generate go tool wit-bindgen-go generate --world looper --out . --package-root github.com/murmur-capsule/murmur/capsule/guest/tinygo ../../../wit
