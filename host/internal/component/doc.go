// Package component brings the WebAssembly Component Model to wazero, which
// knows core modules only.
//
// The way of a component: Load decodes the binary (Binary.md), validates it
// (the type rules of Explainer.md), checks and compiles its core modules, and
// keeps what every instance shares. Instantiate runs the definitions of the
// component in order, as the specification tells it, and gives an instance
// whose exported functions are called through the canonical ABI (package
// canon). Load is dear and done once, Instantiate is cheap and may run
// concurrently.
//
// Synchronous components are supported in full. The built-ins of the
// asynchronous ABI decode and validate; a guest that calls one of them traps.
//
// Every component is hostile until proven otherwise: counts are held against
// the bytes that are left, nesting, type sizes, the work of type checking and
// the number of instances are bounded (limits.go).
package component
