// Package wasi is WASI 0.2 for components, each interface a plugin of package
// host: cli, io, clocks, random and filesystem, as far as a guest may have them.
//
//	plugins, err := wasi.Plugins(wasi.Config{Args: []string{"greeter"}, Workdir: root})
//	inst, err := guest.Instantiate(ctx, host.InstanceConfig{Plugins: append(plugins, mine...)})
//
// Each interface is there once, in the version that [Version] tells, and serves
// guests built for any version 0.2.x.
//
// # What a guest can reach
//
// Its arguments and environment, its standard streams, the clock, random numbers,
// and one directory, which it sees as /workdir. Neither "..", nor an absolute
// path, nor a symbolic link leads out of the directory, and nothing in it that is
// neither a file nor a directory can be opened.
//
// A guest has no network. The interfaces of wasi:http and wasi:sockets are there
// because toolchains make guests import them whether they use them or not. What is
// called fails with the error code that the interface has for it: requests can be
// made, and are denied when they are sent; sockets cannot be made. What has no
// code for it ends the guest with [ErrNoNetwork].
//
// # Waiting
//
// What waits (a poll, a blocking read) waits for events, and ends when the context
// of the guest's call does. Files never make a guest wait; standard input may, see
// [Config].
package wasi
