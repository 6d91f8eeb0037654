package canon

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"unsafe"
)

// A handleGo is a Go type that stands for a handle: [Own] or [Borrow].
type handleGo interface{ handleOps() handleOps }

// handleOps reaches into an Own or Borrow of a type that the codec cannot name.
type handleOps struct {
	own  bool
	of   reflect.Type
	put  func(p unsafe.Pointer, v any) bool
	take func(p unsafe.Pointer) any
}

func (k *compiler) handle(t *Type, g reflect.Type) (codec, error) {
	if g.Kind() != reflect.Struct || !g.Implements(handleType) {
		return nil, k.mismatch(t, g)
	}
	ops := reflect.Zero(g).Interface().(handleGo).handleOps()
	if ops.own != (t.kind == KindOwn) {
		return nil, k.mismatch(t, g)
	}
	return &handleCodec{res: t.res, ops: ops}, nil
}

// A handleCodec is an own or borrow of a resource that Go defines.
type handleCodec struct {
	res *ResourceType
	ops handleOps
}

func (h *handleCodec) liftIndex(c *Call, index uint32, dst unsafe.Pointer) error {
	rep, err := c.liftHandle(h.res, h.ops.own, index)
	if err != nil {
		return err
	}
	if !h.ops.put(dst, rep.Go) {
		return fmt.Errorf("internal error: resource %s is a Go %T, not a %s", h.res.Name, rep.Go, h.ops.of)
	}
	return nil
}

func (h *handleCodec) lowerIndex(c *Call, src unsafe.Pointer) (uint32, error) {
	return c.lowerHandle(h.res, h.ops.own, Rep{Go: h.ops.take(src)})
}

func (h *handleCodec) load(c *Call, p uint32, dst unsafe.Pointer) error {
	return h.liftIndex(c, binary.LittleEndian.Uint32(c.mem[p:]), dst)
}

func (h *handleCodec) store(c *Call, p uint32, src unsafe.Pointer) error {
	index, err := h.lowerIndex(c, src)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(c.mem[p:], index)
	return nil
}

func (h *handleCodec) lift(c *Call, lanes []uint64, dst unsafe.Pointer) error {
	return h.liftIndex(c, uint32(lanes[0]), dst)
}

func (h *handleCodec) lower(c *Call, lanes []uint64, src unsafe.Pointer) error {
	index, err := h.lowerIndex(c, src)
	lanes[0] = uint64(index)
	return err
}

// liftHandle takes an own out of the guest's table, or notes that a handle is
// lent until the call ends (the spec's lift_own and lift_borrow).
func (c *Call) liftHandle(t *ResourceType, own bool, index uint32) (Rep, error) {
	res, err := c.resource(t)
	if err != nil {
		return Rep{}, err
	}
	if own {
		rep, err := c.inst.Handles.take(res, index)
		if err == nil && res.Impl == nil && res.Drop != nil {
			c.taken = append(c.taken, taken{res, rep})
		}
		return rep, err
	}
	e, err := c.inst.Handles.get(res, index)
	if err != nil {
		return Rep{}, err
	}
	e.lends++
	c.lent = append(c.lent, index)
	return e.rep, nil
}

// lowerHandle gives the guest a handle (the spec's lower_own and lower_borrow). A
// borrow lowered to the instance that defines the resource is the bare
// representation.
func (c *Call) lowerHandle(t *ResourceType, own bool, rep Rep) (uint32, error) {
	res, err := c.resource(t)
	if err != nil {
		return 0, err
	}
	if own {
		return c.inst.Handles.add(entry{res: res, rep: rep, own: true})
	}
	if res.Impl == c.inst {
		return rep.Guest, nil
	}
	index, err := c.inst.Handles.add(entry{res: res, rep: rep, scope: c})
	if err == nil {
		c.borrows++
	}
	return index, err
}
