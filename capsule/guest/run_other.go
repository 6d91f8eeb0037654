//go:build !wasip1

package guest

func call(Input) Result {
	return Result{
		Status:  StatusError,
		Summary: "murmur:tool/run is only there in a guest built with GOOS=wasip1 GOARCH=wasm",
	}
}
