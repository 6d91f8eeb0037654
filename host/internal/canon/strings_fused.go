package canon

import "unicode/utf8"

// lowerFused copies a string from one component to another. The steps of the
// allocation depend on what the string was in the first one, as in the spec's
// store_string_into_range; a guest's allocator sees each of them.
func (c *Call) lowerFused(s string, src srcEncoding) (ptr, length uint32, err error) {
	switch c.b.Encoding {
	case UTF8:
		if src == srcUTF8 {
			return c.lowerUTF8(s)
		}
		return c.widenToUTF8(s, src)
	case UTF16:
		if src == srcUTF8 {
			return c.shrinkToUTF16(s)
		}
		return c.lowerUTF16(s)
	default:
		return c.lowerFusedLatin1(s, src)
	}
}

func (c *Call) lowerFusedLatin1(s string, src srcEncoding) (ptr, length uint32, err error) {
	switch src {
	case srcLatin1:
		return c.lowerLatin1OrUTF16(s)
	case srcWide:
		return c.deflate(s)
	default:
		return c.inflate(s, sourceUnits(s, src))
	}
}

// sourceUnits is how many code units s was.
func sourceUnits(s string, src srcEncoding) uint32 {
	switch src {
	case srcUTF8:
		return uint32(len(s))
	case srcLatin1:
		return uint32(utf8.RuneCountInString(s))
	default:
		return uint32(utf16Len(s))
	}
}

// again moves an allocation of a string that the guest must be able to give
// back in another size. The limit holds for every step, the worst case too.
func (c *Call) again(ptr, oldSize, align uint32, size uint64) (uint32, error) {
	if size > uint64(c.inst.limits.ValueBytes) {
		return 0, c.stringTooLong(size)
	}
	return c.realloc(ptr, oldSize, align, uint32(size), fusedString)
}

// prefix is the beginning of s up to the first character above the highest.
func prefix(s string, highest rune) string {
	for i, r := range s {
		if r > highest {
			return s[:i]
		}
	}
	return s
}

// widenToUTF8 takes as many bytes as there are code units, which is right for
// ASCII, then the worst case, then what it was in the end.
func (c *Call) widenToUTF8(s string, src srcEncoding) (ptr, length uint32, err error) {
	units := sourceUnits(s, src)
	if ptr, err = c.again(0, 0, 1, uint64(units)); err != nil {
		return 0, 0, err
	}
	size := uint64(len(s))
	narrow := prefix(s, 0x7f)
	copy(c.mem[ptr:], narrow)
	if len(narrow) == len(s) {
		return ptr, units, nil
	}
	worst := uint64(units) * 3
	if src == srcLatin1 {
		worst = uint64(units) * 2
	}
	if ptr, err = c.again(ptr, units, 1, worst); err != nil {
		return 0, 0, err
	}
	copy(c.mem[ptr:], s)
	if worst > size {
		ptr, err = c.again(ptr, uint32(worst), 1, size)
	}
	return ptr, uint32(size), err
}

// shrinkToUTF16 takes two bytes for each byte of UTF-8, then gives back the rest.
func (c *Call) shrinkToUTF16(s string) (ptr, length uint32, err error) {
	worst, size := 2*uint64(len(s)), 2*uint64(utf16Len(s))
	if ptr, err = c.again(0, 0, 2, worst); err != nil {
		return 0, 0, err
	}
	putUTF16(c.mem[ptr:], s)
	if size < worst {
		ptr, err = c.again(ptr, uint32(worst), 2, size)
	}
	return ptr, uint32(size / 2), err
}

// inflate hopes for Latin-1, and goes over to UTF-16 at the first character that
// is not.
func (c *Call) inflate(s string, units uint32) (ptr, length uint32, err error) {
	if ptr, err = c.again(0, 0, 2, uint64(units)); err != nil {
		return 0, 0, err
	}
	narrow := prefix(s, 0xff)
	putLatin1(c.mem[ptr:], narrow)
	if len(narrow) == len(s) {
		n := uint32(utf8.RuneCountInString(s))
		if n < units {
			ptr, err = c.again(ptr, units, 2, uint64(n))
		}
		return ptr, n, err
	}
	worst, size := 2*uint64(units), 2*uint64(utf16Len(s))
	if ptr, err = c.again(ptr, units, 2, worst); err != nil {
		return 0, 0, err
	}
	putUTF16(c.mem[ptr:], s)
	if worst > size {
		ptr, err = c.again(ptr, uint32(worst), 2, size)
	}
	return ptr, uint32(size/2) | utf16Tag, err
}

// deflate expects UTF-16, since the string was that, and gives back half if
// Latin-1 was enough.
func (c *Call) deflate(s string) (ptr, length uint32, err error) {
	ptr, units, err := c.lowerUTF16(s)
	if err != nil {
		return 0, 0, err
	}
	if _, ok := latin1Len(s); !ok {
		return ptr, units | utf16Tag, nil
	}
	putLatin1(c.mem[ptr:], s)
	ptr, err = c.again(ptr, 2*units, 2, uint64(units))
	return ptr, units, err
}
