package component

import "fmt"

// canonOp is the opcode of a canonical definition.
type canonOp byte

const (
	canonLift                 canonOp = 0x00
	canonLower                canonOp = 0x01
	canonResourceNew          canonOp = 0x02
	canonResourceDrop         canonOp = 0x03
	canonResourceRep          canonOp = 0x04
	canonTaskCancel           canonOp = 0x05
	canonSubtaskCancel        canonOp = 0x06
	canonTaskReturn           canonOp = 0x09
	canonContextGet           canonOp = 0x0a
	canonContextSet           canonOp = 0x0b
	canonThreadYield          canonOp = 0x0c
	canonSubtaskDrop          canonOp = 0x0d
	canonStreamNew            canonOp = 0x0e
	canonStreamRead           canonOp = 0x0f
	canonStreamWrite          canonOp = 0x10
	canonStreamCancelRead     canonOp = 0x11
	canonStreamCancelWrite    canonOp = 0x12
	canonStreamDropReadable   canonOp = 0x13
	canonStreamDropWritable   canonOp = 0x14
	canonFutureNew            canonOp = 0x15
	canonFutureRead           canonOp = 0x16
	canonFutureWrite          canonOp = 0x17
	canonFutureCancelRead     canonOp = 0x18
	canonFutureCancelWrite    canonOp = 0x19
	canonFutureDropReadable   canonOp = 0x1a
	canonFutureDropWritable   canonOp = 0x1b
	canonErrorContextNew      canonOp = 0x1c
	canonErrorContextMessage  canonOp = 0x1d
	canonErrorContextDrop     canonOp = 0x1e
	canonWaitableSetNew       canonOp = 0x1f
	canonWaitableSetWait      canonOp = 0x20
	canonWaitableSetPoll      canonOp = 0x21
	canonWaitableSetDrop      canonOp = 0x22
	canonWaitableJoin         canonOp = 0x23
	canonBackpressureInc      canonOp = 0x24
	canonBackpressureDec      canonOp = 0x25
	canonThreadIndex          canonOp = 0x26
	canonThreadNewIndirect    canonOp = 0x27
	canonThreadResumeLater    canonOp = 0x28
	canonThreadSuspend        canonOp = 0x29
	canonThreadSuspendResume  canonOp = 0x2a
	canonThreadYieldResume    canonOp = 0x2b
	canonThreadSuspendPromote canonOp = 0x2c
	canonThreadYieldPromote   canonOp = 0x2d
	canonThreadSpawnRef       canonOp = 0x40
	canonThreadSpawnIndirect  canonOp = 0x41
	canonThreadParallelism    canonOp = 0x42
)

var canonNames = map[canonOp]string{
	canonLift: "lift", canonLower: "lower", canonResourceNew: "resource.new", canonResourceDrop: "resource.drop",
	canonResourceRep: "resource.rep", canonTaskCancel: "task.cancel", canonSubtaskCancel: "subtask.cancel",
	canonTaskReturn: "task.return", canonContextGet: "context.get", canonContextSet: "context.set",
	canonThreadYield: "thread.yield", canonSubtaskDrop: "subtask.drop", canonStreamNew: "stream.new",
	canonStreamRead: "stream.read", canonStreamWrite: "stream.write", canonStreamCancelRead: "stream.cancel-read",
	canonStreamCancelWrite: "stream.cancel-write", canonStreamDropReadable: "stream.drop-readable",
	canonStreamDropWritable: "stream.drop-writable", canonFutureNew: "future.new", canonFutureRead: "future.read",
	canonFutureWrite: "future.write", canonFutureCancelRead: "future.cancel-read",
	canonFutureCancelWrite: "future.cancel-write", canonFutureDropReadable: "future.drop-readable",
	canonFutureDropWritable: "future.drop-writable", canonErrorContextNew: "error-context.new",
	canonErrorContextMessage: "error-context.debug-message", canonErrorContextDrop: "error-context.drop",
	canonWaitableSetNew: "waitable-set.new", canonWaitableSetWait: "waitable-set.wait",
	canonWaitableSetPoll: "waitable-set.poll", canonWaitableSetDrop: "waitable-set.drop",
	canonWaitableJoin: "waitable.join", canonBackpressureInc: "backpressure.inc",
	canonBackpressureDec: "backpressure.dec", canonThreadIndex: "thread.index",
	canonThreadNewIndirect: "thread.new-indirect", canonThreadResumeLater: "thread.resume-later",
	canonThreadSuspend: "thread.suspend", canonThreadSuspendResume: "thread.suspend-then-resume",
	canonThreadYieldResume: "thread.yield-then-resume", canonThreadSuspendPromote: "thread.suspend-then-promote",
	canonThreadYieldPromote: "thread.yield-then-promote", canonThreadSpawnRef: "thread.spawn-ref",
	canonThreadSpawnIndirect: "thread.spawn-indirect", canonThreadParallelism: "thread.available-parallelism",
}

func (o canonOp) String() string {
	if n, ok := canonNames[o]; ok {
		return n
	}
	return fmt.Sprintf("canonical function 0x%x", byte(o))
}

// defCanon adds a function made by the canonical ABI.
type defCanon struct {
	pos
	op     canonOp
	index  uint32 // core function, function or type, as op wants
	typ    uint32 // of a lift; the table of thread built-ins
	opts   []rawCanonOpt
	result *rawValType // of task.return
	value  valueType   // of context.get and context.set
	slot   uint32
}

type rawCanonOpt struct {
	at    int
	code  byte
	index uint32
}

// Canonical options (Binary.md, canonopt).
const (
	optUTF8 = iota
	optUTF16
	optLatin1UTF16
	optMemory
	optRealloc
	optPostReturn
	optAsync
	optCallback
)
