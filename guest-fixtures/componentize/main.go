// Command componentize makes a component of a guest that is built with the
// standard Go toolchain and capsule/guest, for handler or for looper:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o guest.wasm .
//	go run -C CLONE ./guest-fixtures/componentize "$PWD/guest.wasm" "$PWD/component.wasm"
//
// It needs node, and npm at first.
package main

import (
	"fmt"
	"os"

	fixtures "github.com/murmur-capsule/murmur/guest-fixtures"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: componentize MODULE COMPONENT")
		os.Exit(2)
	}
	if err := fixtures.Componentize(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "componentize: "+err.Error())
		os.Exit(1)
	}
}
