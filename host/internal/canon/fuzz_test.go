package canon

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// FuzzLift reads values of random types from memory that a guest filled as it
// liked. Nothing may panic; whatever is read can be written, and is then read
// again as the same.
func FuzzLift(f *testing.F) {
	f.Add(uint64(1), uint8(0), []byte{0, 0, 0, 0})
	f.Add(uint64(2), uint8(1), []byte{8, 0, 0, 0, 255, 255, 255, 255, 0xd8, 0, 1, 2, 3})
	f.Add(uint64(3), uint8(2), []byte{16, 0, 0, 0, 4, 0, 0, 0x80, 0x41, 0, 0x3d, 0xd8, 0, 0xdc})
	f.Add(uint64(4), uint8(5), []byte{1, 2, 3, 4, 5, 6, 7, 8, 24, 0, 0, 0, 2, 0, 0, 0, 'h', 'i'})
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8, memory []byte) {
		r := rand.New(rand.NewPCG(seed, 2))
		typ := randomType(r, 1+r.IntN(5))
		b := hostileGuest(memory).binding(Encoding(mode % 3))
		b.Fused = mode&4 != 0
		b.Instance = NewInstance(nil, Limits{CallBytes: 1 << 20})
		cd := dynamicCodec(t, typ)
		c := open(t, b)
		var v Value
		if c.check(0, typ.Align(), typ.Size(), areaResult) == nil && cd.load(c, 0, unsafe.Pointer(&v)) == nil {
			again(t, typ, cd, v, b)
		}
		if types, ok := typ.Flat(); ok {
			lanes := make([]uint64, len(types))
			for i := range lanes {
				lanes[i] = r.Uint64() >> r.IntN(64)
			}
			var lifted Value
			if cd.lift(c, lanes, unsafe.Pointer(&lifted)) == nil {
				again(t, typ, cd, lifted, b)
			}
		}
	})
}

func hostileGuest(memory []byte) *guest {
	g := newGuest(len(memory))
	copy(g.mem, memory)
	return g
}

func again(t *testing.T, typ *Type, cd codec, v Value, from *Binding) {
	t.Helper()
	g := newGuest(256)
	b := g.binding(from.Encoding)
	b.Fused = from.Fused
	c := open(t, b)
	p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
	if err != nil {
		t.Fatalf("cannot write %s, which was read from a guest: %v", Format(typ, v), err)
	}
	var back Value
	if err := cd.load(c, p, unsafe.Pointer(&back)); err != nil || !EqualValues(typ, v, back) {
		t.Fatalf("%s is %s (%v)", Format(typ, v), Format(typ, back), err)
	}
}

// FuzzTypedLift does the same with the codecs of Go types, and compares what they
// read with what the dynamic ones do: both trap, or both read the same.
func FuzzTypedLift(f *testing.F) {
	f.Add(uint8(0), []byte{0})
	f.Add(uint8(1), make([]byte, 512))
	f.Add(uint8(2), append(make([]byte, 300), 1, 1, 1, 0x80, 0xd8, 0xff))
	f.Fuzz(func(t *testing.T, mode uint8, memory []byte) {
		typ, cd := codecFor[everything](t)
		dyn := dynamicCodec(t, typ)
		g := hostileGuest(memory)
		b := g.binding(Encoding(mode % 3))
		c := open(t, b)
		if c.check(0, typ.Align(), typ.Size(), areaResult) != nil {
			return
		}
		var v everything
		var val Value
		err, dynErr := cd.load(c, 0, unsafe.Pointer(&v)), dyn.load(c, 0, unsafe.Pointer(&val))
		if (err == nil) != (dynErr == nil) || err != nil && err.Error() != dynErr.Error() {
			t.Fatalf("typed: %v, dynamic: %v", err, dynErr)
		}
		if err != nil {
			return
		}
		p, err := put(t, c, g, typ, cd, unsafe.Pointer(&v))
		if err != nil {
			t.Fatal(err)
		}
		var back Value
		if err := dyn.load(c, p, unsafe.Pointer(&back)); err != nil || !EqualValues(typ, val, back) {
			t.Fatalf("%s is %s (%v)", Format(typ, val), Format(typ, back), err)
		}
	})
}

// FuzzRealloc lets the allocator return what it likes, and the memory shrink to
// nothing less: the host writes nowhere but in memory, and says so if it cannot.
func FuzzRealloc(f *testing.F) {
	f.Add(uint64(1), uint8(0), uint64(1))
	f.Add(uint64(9), uint8(5), uint64(77))
	f.Fuzz(func(t *testing.T, seed uint64, mode uint8, lies uint64) {
		r := rand.New(rand.NewPCG(seed, 3))
		typ := randomType(r, 1+r.IntN(4))
		v := randomValue(r, typ)
		g := newGuest(512)
		lie := rand.New(rand.NewPCG(lies, 4))
		g.lie = func([4]uint32) (uint32, error) {
			switch lie.IntN(6) {
			case 0:
				return lie.Uint32(), nil
			case 1:
				return 0, errors.New("unreachable")
			default:
				return uint32(lie.IntN(64)) * 8, nil
			}
		}
		b := g.binding(Encoding(mode % 3))
		b.Fused = mode&4 != 0
		c, err := b.Instance.begin(context.Background(), b, true)
		if err != nil {
			t.Fatal(err)
		}
		defer c.end()
		cd := dynamicCodec(t, typ)
		if types, ok := typ.Flat(); ok {
			_ = cd.lower(c, make([]uint64, len(types)), unsafe.Pointer(&v))
		}
		if c.check(0, typ.Align(), typ.Size(), areaResult) == nil {
			_ = cd.store(c, 0, unsafe.Pointer(&v))
		}
	})
}
