"""Writes vectors.json: what the reference implementation of the canonical ABI
makes of random values of random types.

Usage: python3 vectors.py FOLDER > vectors.json

FOLDER holds definitions.py, from design/mvp/canonical-abi of the Component Model
repository. Each vector has a type, a value, the encoding of strings, what the
value is on the core stack and in memory, which blocks the allocator was asked
for, and what is read after some bytes of that memory were changed.
"""

import json
import random
import struct
import sys

sys.path.insert(0, sys.argv[1])
import definitions as d

d.DETERMINISTIC_PROFILE = True
ENCODINGS = ["utf8", "utf16", "latin1+utf16"]
PRIMS = {
    "bool": d.BoolType, "s8": d.S8Type, "u8": d.U8Type, "s16": d.S16Type,
    "u16": d.U16Type, "s32": d.S32Type, "u32": d.U32Type, "s64": d.S64Type,
    "u64": d.U64Type, "f32": d.F32Type, "f64": d.F64Type, "char": d.CharType,
    "string": d.StringType,
}
TEXTS = ["", "a", "abc", "é", "ÿ\u0080x", "Σ", "aΣ", "☃🍰", "grün🍰", "\uffff", "x" * 20]
rnd = random.Random(7)


# Types are written as JSON: a name, or one key that says what the parts are.


def random_type(depth):
    if depth <= 1 or rnd.random() < 0.25:
        kind = rnd.choice(list(PRIMS) + ["enum", "flags"])
        if kind == "enum":
            return {"enum": rnd.choice([1, 2, 5, 256, 257])}
        if kind == "flags":
            return {"flags": rnd.choice([1, 7, 8, 9, 16, 17, 32])}
        return kind

    def part():
        return random_type(depth - 1)

    def maybe():
        return None if rnd.random() < 0.3 else part()

    kind = rnd.choice(["list", "fixed", "record", "tuple", "variant", "option", "result", "map"])
    if kind in ("list", "option"):
        return {kind: part()}
    if kind == "fixed":
        return {kind: [part(), rnd.randint(1, 4)]}
    if kind in ("record", "tuple"):
        return {kind: [part() for _ in range(rnd.randint(1, 5))]}
    if kind == "variant":
        return {kind: [maybe() for _ in range(rnd.randint(1, 4))]}
    if kind == "result":
        return {kind: [maybe(), maybe()]}
    return {kind: [part(), part()]}


def names(prefix, n):
    return ["%s%d" % (prefix, i) for i in range(n)]


def to_type(t):
    if t is None:
        return None
    if isinstance(t, str):
        return PRIMS[t]()
    (kind, a), = t.items()
    if kind == "enum":
        return d.EnumType(names("l", a))
    if kind == "flags":
        return d.FlagsType(names("l", a))
    if kind == "list":
        return d.ListType(to_type(a))
    if kind == "fixed":
        return d.ListType(to_type(a[0]), a[1])
    if kind == "option":
        return d.OptionType(to_type(a))
    parts = [to_type(x) for x in a]
    if kind == "record":
        return d.RecordType([d.FieldType(n, p) for n, p in zip(names("f", len(a)), parts)])
    if kind == "tuple":
        return d.TupleType(parts)
    if kind == "variant":
        return d.VariantType([d.CaseType(n, p) for n, p in zip(names("c", len(a)), parts)])
    if kind == "result":
        return d.ResultType(*parts)
    return d.MapType(*parts)


# Values are written as JSON too: a scalar as the decimal of its bits, a string as
# [text, encoding, tagged], a list, record or tuple as an array, a variant as
# {"case": n, "of": payload}.


def random_value(t):
    if isinstance(t, str):
        return random_prim(t)
    (kind, a), = t.items()
    if kind == "enum":
        return str(rnd.randrange(a))
    if kind == "flags":
        return str(rnd.getrandbits(a))
    if kind == "list":
        return [random_value(a) for _ in range(rnd.randint(0, 3))]
    if kind == "map":
        return [[random_value(a[0]), random_value(a[1])] for _ in range(rnd.randint(0, 3))]
    if kind == "fixed":
        return [random_value(a[0]) for _ in range(a[1])]
    if kind in ("record", "tuple"):
        return [random_value(x) for x in a]
    cases = {"option": lambda: [None, a], "result": lambda: a, "variant": lambda: a}[kind]()
    n = rnd.randrange(len(cases))
    return {"case": n, "of": None if cases[n] is None else random_value(cases[n])}


def random_prim(t):
    if t == "string":
        text = rnd.choice(TEXTS)
        enc = rnd.choice(ENCODINGS)
        wide = any(ord(c) > 255 for c in text)
        return [text, enc, enc == "latin1+utf16" and (wide or rnd.random() < 0.3)]
    if t == "bool":
        return str(rnd.getrandbits(1))
    if t == "char":
        return str(ord(rnd.choice("a\0é☃🍰\uffff\ud7ff\ue000\U0010ffff")))
    width = int(t[1:])
    if t[0] == "f" and rnd.random() < 0.3:
        return str({32: 0x7FC00000, 64: 0x7FF8000000000000}[width])
    bits = rnd.getrandbits(width)
    if t[0] == "f":
        return float_bits(t, float_of(t, bits))
    return str(bits)


def float_of(t, bits):
    return (d.decode_i32_as_float if t == "f32" else d.decode_i64_as_float)(bits)


def float_bits(t, f):
    return str((d.encode_float_as_i32 if t == "f32" else d.encode_float_as_i64)(f))


def to_value(t, v):
    """The form in which definitions.py takes a value."""
    if isinstance(t, str):
        return to_prim(t, v)
    (kind, a), = t.items()
    if kind == "enum":
        return {"l" + v: None}
    if kind == "flags":
        return {"l%d" % i: bool(int(v) >> i & 1) for i in range(a)}
    if kind == "list":
        return [to_value(a, x) for x in v]
    if kind == "map":
        return [{"0": to_value(a[0], k), "1": to_value(a[1], x)} for k, x in v]
    if kind == "fixed":
        return [to_value(a[0], x) for x in v]
    if kind in ("record", "tuple"):
        return {label(kind, i): to_value(x, v[i]) for i, x in enumerate(a)}
    n = v["case"]
    of = {"option": lambda: [None, a], "result": lambda: a, "variant": lambda: a}[kind]()[n]
    return {label(kind, n): None if of is None else to_value(of, v["of"])}


def label(kind, i):
    if kind == "record":
        return "f%d" % i
    if kind == "variant":
        return "c%d" % i
    return {"tuple": str(i), "option": ["none", "some"][i % 2], "result": ["ok", "error"][i % 2]}[kind]


def to_prim(t, v):
    if t == "string":
        text, enc, tagged = v
        units = len(text.encode("utf-8"))
        if enc == "utf16" or tagged:
            units = len(text.encode("utf-16-le")) // 2
        elif enc == "latin1+utf16":
            units = len(text)
        return (text, enc, units | (1 << 31 if tagged else 0))
    n = int(v)
    if t == "bool":
        return bool(n)
    if t == "char":
        return chr(n)
    if t[0] == "f":
        return float_of(t, n)
    width = int(t[1:])
    return n - (1 << width) if t[0] == "s" and n >> (width - 1) else n


def from_value(t, v):
    """The inverse of to_value."""
    if isinstance(t, str):
        return from_prim(t, v)
    (kind, a), = t.items()
    if kind == "enum":
        return next(iter(v))[1:]
    if kind == "flags":
        return str(sum(1 << i for i in range(a) if v["l%d" % i]))
    if kind == "list":
        return [from_value(a, x) for x in v]
    if kind == "map":
        return [[from_value(a[0], x["0"]), from_value(a[1], x["1"])] for x in v]
    if kind == "fixed":
        return [from_value(a[0], x) for x in v]
    if kind in ("record", "tuple"):
        return [from_value(x, v[label(kind, i)]) for i, x in enumerate(a)]
    cases = {"option": lambda: [None, a], "result": lambda: a, "variant": lambda: a}[kind]()
    (name, payload), = v.items()
    n = [label(kind, i) for i in range(len(cases))].index(name)
    return {"case": n, "of": None if cases[n] is None else from_value(cases[n], payload)}


def from_prim(t, v):
    if t == "string":
        text, enc, units = v
        return [text, enc, enc == "latin1+utf16" and bool(units >> 31)]
    if t == "char":
        return str(ord(v))
    if t[0] == "f":
        return float_bits(t, v)
    width = 64 if t == "bool" else int(t[1:])
    return str(int(v) % (1 << width))


class Guest(d.LiftLowerContext):
    """Memory, and an allocator that hands it out in order."""

    SIZE = 4096

    def __init__(self, encoding):
        memory = d.MemInst(bytearray(self.SIZE), "i32")
        super().__init__(d.LiftLowerOptions(encoding, memory), None)
        self.next = 8
        self.asked = []

    def reallocate(self, old, old_size, alignment, size):
        self.asked.append([old, old_size, alignment, size])
        ptr = (self.next + 7) & ~7
        self.next = ptr + size
        assert self.next <= self.SIZE
        mem = self.opts.memory
        kept = min(old_size, size)
        mem[ptr : ptr + kept] = mem[old : old + kept]
        return ptr


def lane(core, v):
    if core == "f32":
        return struct.unpack("<I", struct.pack("<f", v))[0]
    if core == "f64":
        return struct.unpack("<Q", struct.pack("<d", v))[0]
    return v


def changed(memory, end):
    """Some bytes to change, as [[address, byte]…]."""
    special = [0, 1, 2, 0x7F, 0x80, 0xD8, 0xFF]
    return [[rnd.randrange(8, end), rnd.choice(special)] for _ in range(rnd.randint(1, 3))]


def read_changed(encoding, memory, ptr, t, ty, changes):
    g = Guest(encoding)
    g.opts.memory.bytes[:] = memory
    for at, b in changes:
        g.opts.memory[at] = b
    try:
        return {"value": from_value(t, d.load(g, ptr, ty))}
    except d.Trap:
        return {"trap": True}


def vector():
    t = random_type(rnd.randint(1, 4))
    ty = to_type(t)
    v = random_value(t)
    value = to_value(t, v)
    encoding = rnd.choice(ENCODINGS)
    flat_types = d.flatten_type(ty, Guest(encoding).opts)
    out = {"type": t, "value": v, "encoding": encoding, "size": d.elem_size(ty, "i32"), "align": d.alignment(ty, "i32")}
    if len(flat_types) <= 16:
        lanes = d.lower_flat(Guest(encoding), value, ty)
        out["core"] = flat_types
        out["flat"] = [str(lane(c, x)) for c, x in zip(flat_types, lanes)]
    g = Guest(encoding)
    ptr = g.reallocate(0, 0, out["align"], out["size"])
    d.store(g, value, ty, ptr)
    out["asked"] = g.asked
    out["memory"] = bytes(g.opts.memory[0 : g.next]).hex()
    memory = bytes(g.opts.memory.bytes)
    out["changed"] = []
    for _ in range(3):
        changes = changed(memory, g.next)
        read = read_changed(encoding, memory, ptr, t, ty, changes)
        out["changed"].append({"bytes": changes, **read})
    return out


def main():
    vectors = []
    while len(vectors) < 800:
        try:
            v = vector()
        except AssertionError:
            continue  # more memory than the guest has
        if len(json.dumps(v)) < 1500:
            vectors.append(v)
    print("[")
    print(",\n".join(json.dumps(v, ensure_ascii=True, separators=(",", ":")) for v in vectors))
    print("]")


main()
