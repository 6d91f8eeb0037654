// Package rootfs is a directory as a guest's file system: wazero's FS over an
// [os.Root].
//
// Every path of the guest goes through the directory's handle, so that neither
// "..", nor an absolute path, nor a symbolic link, nor a directory that is
// swapped for a link meanwhile leads out of it. Only regular files and
// directories can be opened: a pipe or a device in the directory cannot block
// the guest or be reached by it.
//
// wazero's own directory mounts are documented as escapable and are not used.
package rootfs
