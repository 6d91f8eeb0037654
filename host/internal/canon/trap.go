package canon

import "fmt"

// A Trap is a breach of the canonical ABI by a guest: the call is over, and so
// is the instance. Its text is the one that the suites of the Component Model
// expect.
type Trap struct {
	// Text says what the guest did.
	Text string
	// Detail, if any, says where.
	Detail string
}

// Error is the trap's text, with the detail after it.
func (t *Trap) Error() string {
	if t.Detail == "" {
		return t.Text
	}
	return t.Text + ": " + t.Detail
}

// The texts of the traps that carry no number. The ones of the second group are
// said of a call between two components, where the first would name a pointer.
const (
	textCannotLeave  = "cannot leave component instance"
	textCannotEnter  = "cannot enter component instance"
	textChar         = "invalid `char` bit pattern"
	textUTF8         = "invalid utf-8 sequence"
	textUTF8Short    = "incomplete utf-8 byte sequence"
	textUTF16        = "invalid utf-16: unpaired surrogate"
	textLent         = "cannot remove owned resource while borrowed"
	textBorrowsLeft  = "borrow handles still remain at the end of the call"
	textNotOwned     = "handle index %d is not an own resource"
	textUnknown      = "unknown handle index %d"
	textWrongType    = "handle index %d used with the wrong type, expected %s but found %s"
	textHandlesFull  = "cannot allocate another handle: %d are in use"
	textDiscriminant = "discriminant %d out of range [0..%d)"
	textBudget       = "a call made the host allocate more than %d bytes"
	textTooLong      = "%s of %d bytes is longer than the limit of %d"

	textReallocAlign = "realloc return: result not aligned"
	textReallocRange = "realloc return: beyond end of memory"
	textRetAlign     = "return pointer not aligned"
	textPtrAlign     = "pointer not aligned"
	textPtrRange     = "pointer out of bounds of memory"
	textStringAlign  = "string pointer not aligned to 2"
	textStringRange  = "string pointer/length out of bounds of memory"
	textListAlign    = "list pointer is not aligned"
	textListRange    = "list pointer/length out of bounds of memory"

	textFusedAlign        = "unaligned pointer"
	textFusedStringRange  = "string content out-of-bounds"
	textFusedListRange    = "list content out-of-bounds"
	textFusedDiscriminant = "invalid variant discriminant"
)

func trapf(format string, args ...any) *Trap {
	if len(args) == 0 {
		return &Trap{Text: format}
	}
	return &Trap{Text: fmt.Sprintf(format, args...)}
}
