// Package precheck looks at the bytes of a core WebAssembly module before any
// engine does.
//
// An engine trusts a file more than a hostile one deserves. wazero 1.12
// allocates as many items as a section claims to have, so that a module of 15
// bytes ends the process with an out-of-memory error that nothing can catch; its
// compiler is quadratic in the blocks of a function, and cannot be interrupted
// inside one. [Check] walks the whole file once, in linear time and with memory
// for little more than its imports and exports: every count is compared with the
// bytes that are left, every type, segment and instruction is decoded, every
// index compared with what it refers to, and what a function would cost to
// compile is bounded by [Limits]. What remains for the engine is type checking.
//
// [Module.Rewrite] gives the bytes that the engine should see: without custom
// sections, whose decoders need not be trusted then, and, on demand, with checks
// that let the host interrupt the guest (see [Rewrite]).
//
// The rules are those of the core specification, version 2.0, with extended
// constant expressions: https://webassembly.github.io/spec/core/binary/.
package precheck
