package component

import "fmt"

// Error says what is wrong with a component and where in the binary.
type Error struct {
	// Offset is the position in the binary, in bytes from its start.
	Offset int
	// Message names the fault in the words the reference tools use.
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s (at offset 0x%x)", e.Message, e.Offset)
}

// LinkError says which imports cannot be linked. It wraps a [*MissingError] where
// nobody serves them.
type LinkError struct{ err error }

// Error implements error.
func (e *LinkError) Error() string { return e.err.Error() }

// Unwrap is what is wrong.
func (e *LinkError) Unwrap() error { return e.err }

func errorAt(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
}
