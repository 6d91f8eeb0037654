package canon

// A Call is one crossing of the border of an instance.
type Call struct{}
