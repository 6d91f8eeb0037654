// Package canon is the canonical ABI of the WebAssembly Component Model: it
// carries values between Go and the linear memory of a guest.
//
// A [Type] is a component value type with its memory layout and its core
// ("flat") form. A [FuncType] is a function of such types; its [Signature] is
// what the core function behind it must look like.
//
// Two plans turn a function type into calls, each compiled once and used for
// any number of instances:
//
//   - a [HostFunc] is a Go function that a guest imports (the spec's "canon
//     lower" of a host function): it lifts the guest's arguments to Go values,
//     calls Go, and lowers the result;
//   - a [GuestFunc] is a guest's export that Go calls ("canon lift").
//
// Go values come in two forms. Typed: the fields of a Go struct, one for each
// parameter, reached through offsets computed when the plan is made, so that no
// call uses reflection. Dynamic: a [Value] holds a value of any type, for calls
// between components and for conformance suites.
//
// What belongs to one guest instance is in its [Instance] (handle table,
// may-leave and may-enter state, limits), and in a [Binding] (memory, realloc,
// string encoding). Whatever a guest hands over is hostile until checked: each
// breach of the ABI is a [Trap].
//
// The rules are those of
// https://github.com/WebAssembly/component-model/blob/main/design/mvp/CanonicalABI.md,
// without its asynchronous parts.
package canon
