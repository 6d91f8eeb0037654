package capsule

import (
	"strconv"
	"strings"
)

// An Error says what is wrong with a manifest, in one line.
type Error struct {
	// File is the manifest's name, as it was given. Empty for a manifest that
	// was not read from a file.
	File string
	// Line and Column say where in the file, counted from 1. Zero if the error
	// is about none of its lines.
	Line, Column int
	// Field is the path of keys, such as "guest.memory". Empty if the error is
	// about the file as a whole.
	Field string
	// What is wrong.
	What string
}

// Error returns the line "FILE:LINE:COLUMN: FIELD: WHAT", without the parts
// that are not known.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			b.WriteString(":" + strconv.Itoa(e.Line) + ":" + strconv.Itoa(e.Column))
		}
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString(e.Field + ": ")
	}
	b.WriteString(e.What)
	return b.String()
}
