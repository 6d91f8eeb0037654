package guest

// Input is the input of the tool as the WIT has it. [Request.Input] makes one;
// a guest that wants full control over the JSON fills it itself.
type Input struct {
	// Data is the request, as a JSON object; nil sends none.
	Data *string
	// LogPath is the path for a copy of the whole output; nil asks for none.
	LogPath *string
}

// Run runs one shell command and waits for it, at most for the grace period
// that the manifest sets. A command that takes longer is demoted: see
// [Result.Demoted]. All goroutines of the guest stand still meanwhile.
//
// A command that cannot be run is a result with [StatusError]. Outside a
// WebAssembly runtime every result is that.
func Run(r Request) Result { return Call(r.Input()) }

// Call calls the tool with an input that is sent as it is.
func Call(in Input) Result { return call(in) }
