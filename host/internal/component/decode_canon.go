package component

// readCanon reads one canonical definition.
func readCanon(r *reader) *defCanon {
	d := &defCanon{pos: pos(r.pos), op: canonOp(r.byte())}
	switch d.op {
	case canonLift:
		readCanonSort(r, "canonical function lift")
		d.index, d.opts, d.typ = r.u32(), readCanonOpts(r), r.u32()
	case canonLower:
		readCanonSort(r, "canonical function lower")
		d.index, d.opts = r.u32(), readCanonOpts(r)
	case canonTaskReturn:
		d.result, d.opts = readResultList(r), readCanonOpts(r)
	case canonContextGet, canonContextSet:
		d.value, d.slot = readValueType(r), r.u32()
	case canonStreamRead, canonStreamWrite, canonFutureRead, canonFutureWrite:
		d.index, d.opts = r.u32(), readCanonOpts(r)
	case canonErrorContextNew, canonErrorContextMessage:
		d.opts = readCanonOpts(r)
	default:
		readCanonRest(r, d)
	}
	return d
}

// readCanonRest reads the built-ins with at most a type and a flag.
func readCanonRest(r *reader, d *defCanon) {
	switch d.op {
	case canonResourceNew, canonResourceDrop, canonResourceRep,
		canonStreamNew, canonStreamDropReadable, canonStreamDropWritable,
		canonFutureNew, canonFutureDropReadable, canonFutureDropWritable:
		d.index = r.u32()
	case canonStreamCancelRead, canonStreamCancelWrite, canonFutureCancelRead, canonFutureCancelWrite:
		d.index = r.u32()
		r.boolean()
	case canonWaitableSetWait, canonWaitableSetPoll:
		r.boolean()
		d.index = r.u32()
	case canonSubtaskCancel, canonThreadYield, canonThreadSuspend, canonThreadSuspendResume, canonThreadYieldResume,
		canonThreadSuspendPromote, canonThreadYieldPromote, canonThreadParallelism:
		r.boolean()
	case canonThreadNewIndirect:
		d.index, d.typ = r.u32(), r.u32()
	case canonThreadSpawnRef:
		r.boolean()
		d.index = r.u32()
	case canonThreadSpawnIndirect:
		r.boolean()
		d.index, d.typ = r.u32(), r.u32()
	case canonTaskCancel, canonSubtaskDrop, canonErrorContextDrop, canonWaitableSetNew, canonWaitableSetDrop,
		canonWaitableJoin, canonBackpressureInc, canonBackpressureDec, canonThreadIndex, canonThreadResumeLater:
	default:
		r.badLeading(byte(d.op), "canonical function")
	}
}

func readCanonSort(r *reader, what string) {
	if b := r.byte(); b != 0 {
		r.badLeading(b, what)
	}
}

func readCanonOpts(r *reader) []rawCanonOpt {
	n := r.count("canonical options")
	var opts []rawCanonOpt
	for i := 0; i < n && r.ok(); i++ {
		o := rawCanonOpt{at: r.pos, code: r.byte()}
		switch o.code {
		case optUTF8, optUTF16, optLatin1UTF16, optAsync:
		case optMemory, optRealloc, optPostReturn, optCallback:
			o.index = r.u32()
		default:
			r.badLeading(o.code, "canonical option")
		}
		opts = append(opts, o)
	}
	return opts
}
