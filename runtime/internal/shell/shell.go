// Package shell is the way of one command: a request in JSON is parsed
// ([Parse]), checked against what the capsule may do and completed to a
// [Launch] ([Policy.Prepare]), started by a [Runner], and shown to the guest
// ([Foreground]) with its full log in the workdir ([Workdir.WriteLog]).
//
// The allow list is a policy on what a guest may ask for, not a boundary: most
// programs can run others. What holds a command is containment.
//
// Nothing that a guest, a command or the host's environment says is believed:
// texts are cleaned or quoted before they are shown, the workdir is reached
// through one directory handle, and an environment is put together from nothing.
package shell
