// Package host runs WebAssembly guests: it loads them, links them with what the
// host offers, and calls them.
//
// An [Engine] compiles a guest's bytes, a component or a core module that speaks
// the canonical ABI, to a [Guest], which tells what the guest imports, exports, and
// how it takes work ([Guest.Way]). [Guest.Instantiate] makes an [Instance] of it: a
// memory of its own, linked with [Plugin]s (WIT interfaces implemented by Go
// functions) and with WASI.
//
//	engine, err := host.NewEngine(ctx, host.Config{CacheDir: dir})
//	guest, err := engine.Load(ctx, wasm, host.LoadOptions{Name: "greeter"})
//	inst, err := guest.Instantiate(ctx, host.InstanceConfig{Plugins: []*host.Plugin{tool}})
//	text, isErr, err := inst.Handle(ctx, host.Task{Message: "hello"})
//
// # Hostile guests
//
// Nothing that a guest's file or a guest says is believed. A file is checked
// before an engine sees it, and compiled under a deadline. A guest that runs is
// bounded in memory ([LoadOptions.MemoryLimit]) and in computing time
// ([LoadOptions.ComputeLimit]), and can be interrupted at any time by the context
// of its call. What it does wrong is a [TrapError], which ends the call and the
// instance, and nothing else.
//
// # Interruption
//
// The module that the engine compiles is not the file's, byte for byte: each
// loop, and each function that calls another, takes something from a counter, and
// when that is used up the guest enters Go for a moment and looks whether the host
// wants it to end. Without these visits a guest that computes would also stop the
// garbage collector, and with it the process. They cost half a nanosecond a
// round, where wazero's own checks make loops 30 times and every call into a guest
// 50 times slower. So guests can always be interrupted, and a guest without a
// compute limit saves no more than two readings of the clock for each host call.
//
// # Concurrency
//
// An Engine and a Guest are safe for concurrent use. An Instance runs one call at
// a time, and refuses another meanwhile; [Instance.Close] may be called at any
// time.
package host
