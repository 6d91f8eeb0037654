// Package guest is the SDK for capsules written in Go and built by the standard
// toolchain with GOOS=wasip1 GOARCH=wasm.
//
// A guest takes tasks in one of three ways, and each has its package:
//
//   - handler: the runtime calls a function once for each task, the usual way;
//   - looper: the guest runs a loop of its own that asks for tasks;
//   - command: the guest is an ordinary program, run once for each task.
//
// In all three, [Run] runs a shell command under the policy of the capsule's
// manifest. The package also builds natively, so that a guest's other code can
// be tested and vetted as any Go code; there Run only answers with an error.
//
// Guests built by TinyGo use the bindings in guest/tinygo instead.
package guest
