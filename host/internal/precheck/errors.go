package precheck

import "fmt"

// An Error is what is wrong with a file, and where.
type Error struct {
	// Offset is the byte of the file that could not be read or accepted.
	Offset int
	// Text says what is wrong.
	Text string
}

// Error is the text, with the offset after it.
func (e *Error) Error() string { return fmt.Sprintf("%s (at offset %#x)", e.Text, e.Offset) }

// A LimitError says that a file is well formed as far as it was read, but asks
// for more than the limits allow.
type LimitError struct {
	// Offset is the byte of the file where the limit was passed.
	Offset int
	// What names what there is too much of, as in "functions".
	What string
	// Have is what the file asks for, and Limit what is allowed.
	Have, Limit uint64
}

// Error says what there is too much of, and what is allowed.
func (e *LimitError) Error() string {
	return fmt.Sprintf("too many %s: %d, the limit is %d (at offset %#x)", e.What, e.Have, e.Limit, e.Offset)
}

// A ComponentError says that the file is no core module: a component, or of a layer
// that is not known.
type ComponentError struct {
	// Layer is the layer of the binary format: 1 for components.
	Layer uint16
	// Version is the version of that layer.
	Version uint16
}

// Error names the layer.
func (e *ComponentError) Error() string {
	if e.Layer == 1 {
		return fmt.Sprintf("this is a component, where a core module is wanted (layer 1 of the binary format, version %#x)", e.Version)
	}
	return fmt.Sprintf("layer %d of the binary format is not known: a core module is of layer 0, a component of layer 1", e.Layer)
}
