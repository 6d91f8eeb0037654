// Package jobs keeps the durable records of background work: one file a work,
// in a session's state directory, never where a guest or a command can write.
//
// A [Record] says whose a command is, which process it is and how far it has
// come: running, finished, offered to a guest, taken by it. Its end is told by
// an [ExitRecord], a file of its own that only the command's supervisor writes
// and that is believed only if it carries the record's nonce and identity.
//
// Every change is a read and a write under the store's lock, which any number
// of processes may contend for, and every write is atomic and synced (temporary
// file, fsync, rename, fsync of the directory). A file that cannot be read is
// set aside and reported; it never takes another one with it.
//
// What to do with a record is decided by [Decide], which touches nothing; the
// processes themselves are behind [Processes]. A [Handle] is what operators and
// embedders hold: it acts only while the record still has the handle's nonce.
package jobs
