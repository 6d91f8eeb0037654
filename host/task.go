package host

// A Task is one message for a guest: WIT's record task of murmur:task/types.
type Task struct {
	ID        string
	ContextID string
	// Origin and Trust are cases of the enums origin and trust, by their place
	// in the WIT.
	Origin  uint8
	Trust   uint8
	Message string
}
