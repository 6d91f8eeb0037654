package precheck

import "encoding/binary"

// A meter is what Rewrite adds to a guest's code so that the host can interrupt
// it, and so that Go can.
//
// Go cannot preempt compiled guest code. While it runs, the garbage collector
// waits for it to come back, and everything else in the process waits for the
// collector; so a flag that the host sets would never be set. A guest must come
// back by itself, soon and often.
//
// Each loop, each function that calls another or is not short, and each
// instruction that moves memory takes from a global what it may cost at the worst;
// when that is used up, the guest calls a function that is added to it. This fills
// the global, calls the engine (table.grow by nothing is what all modules can do),
// where Go may do what it has to, and then looks whether the host wants the guest
// to end. This costs half a nanosecond a round, which doubles a loop of one cycle,
// is 15 % of one that uses memory, and 5 % of a JavaScript engine; the checks of
// wazero call out on every round, which costs fifty times that.
type meter struct {
	fuel, interrupt  uint32 // globals
	table            uint32
	yield, yieldType uint32 // function
}

const (
	// fuelPerYield is how much a guest may use before it comes back: some tens of
	// microseconds of ordinary code, 100 ms at the very worst.
	fuelPerYield = 10_000
	// codePerFuel is how many bytes of code cost as much as a round of an empty
	// loop, and moved how many bits to shift the bytes or elements that are moved.
	codePerFuel = 1024
	movedShift  = 12
	// A function of up to shortBody bytes that calls no other takes nothing, and
	// who calls it pays: a call, which is two bytes, counts as callBytes. So a
	// kilobyte of calls cannot run half a megabyte of code for nothing.
	shortBody = 128
	callBytes = 16
)

// weightOf is the fuel for running through code of this size, in bytes, with so
// many calls in it.
func weightOf(size, calls int) uint16 {
	return uint16(min(1+(size+calls*callBytes)/codePerFuel, 1<<15))
}

// take is the code that takes fuel, given the instructions that leave on the
// stack how much.
func (m *meter) take(amount ...byte) []byte {
	b := global(opGlobalGet, m.fuel)
	b = append(append(b, amount...), opI32Sub)
	b = append(b, global(opGlobalSet, m.fuel)...)
	b = append(b, global(opGlobalGet, m.fuel)...)
	b = append(b, opI32Const, 0, opI32LtS, opIf, blockTypeEmpty, opCall)
	return append(binary.AppendUvarint(b, uint64(m.yield)), opEnd)
}

func (m *meter) takeWeight(w uint16) []byte { return m.take(constant(int64(w))...) }

// takeMoved takes for what was moved, by the number in a local.
func (m *meter) takeMoved(local int) []byte {
	b := binary.AppendUvarint([]byte{opLocalGet}, uint64(local))
	return m.take(append(b, opI32Const, movedShift, opI32ShrU)...)
}

// yieldBody is the body of the function that comes back to the host.
func (m *meter) yieldBody() []byte {
	b := append([]byte{0}, constant(fuelPerYield)...)
	b = append(b, global(opGlobalSet, m.fuel)...)
	b = append(b, opRefNull, FuncRef, opI32Const, 0, opMisc, miscTableGrow)
	b = append(binary.AppendUvarint(b, uint64(m.table)), opDrop)
	b = append(b, global(opGlobalGet, m.interrupt)...)
	b = append(b, opIf, blockTypeEmpty, opUnreachable, opEnd, opEnd)
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
}

func global(op byte, index uint32) []byte { return binary.AppendUvarint([]byte{op}, uint64(index)) }

// constant is i32.const n, of a number that is not negative.
func constant(n int64) []byte {
	b := []byte{opI32Const}
	for ; n > 0x3f; n >>= 7 {
		b = append(b, byte(n&0x7f)|0x80)
	}
	return append(b, byte(n))
}

func (w *rewriter) codeSection() {
	places := w.places
	w.u32(uint32(len(w.bodies)) + 1)
	for _, b := range w.bodies {
		w.body(b, places[:b.places])
		places = places[b.places:]
	}
	w.Bytes = append(w.Bytes, w.yieldBody()...)
}

// body writes a function with what the meter adds.
func (w *rewriter) body(b body, places []place) {
	at := w.gap()
	w.locals(b)
	if size := b.end - b.expr; b.calls > 0 || size > shortBody {
		w.Bytes = append(w.Bytes, w.takeWeight(weightOf(size, b.calls))...)
	}
	from := b.expr
	for _, p := range places {
		w.Bytes = append(w.Bytes, w.data[from:p.at]...)
		from = int(p.at)
		switch p.kind {
		case placeLoop:
			w.Bytes = append(w.Bytes, w.takeWeight(p.weight)...)
		case placeBulk:
			w.Bytes = binary.AppendUvarint(append(w.Bytes, opLocalTee), uint64(b.locals))
		case placeMoved:
			w.Bytes = append(w.Bytes, w.takeMoved(b.locals)...)
		}
	}
	w.Bytes = append(w.Bytes, w.data[from:b.end]...)
	w.fill(at)
}

// locals writes a function's locals, with one more where something moves.
func (w *rewriter) locals(b body) {
	r := &reader{b: w.data, pos: b.start, end: b.end}
	r.u32() // the body's size
	if !b.bulk {
		w.Bytes = append(w.Bytes, w.data[r.pos:b.expr]...)
		return
	}
	w.u32(r.u32() + 1)
	w.Bytes = append(append(w.Bytes, w.data[r.pos:b.expr]...), 1, I32)
}
