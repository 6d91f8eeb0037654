// Command wasi is a guest that uses what the system gives it: files, clocks,
// random numbers, standard output and much memory. The message of a task says
// which; the result is an account of it.
package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/murmur-capsule/murmur/capsule/guest"
	"github.com/murmur-capsule/murmur/capsule/guest/handler"
)

func init() { handler.Handle(handle) }

func main() {}

var works = map[string]func() (string, error){
	"clocks":   clocks,
	"random":   random,
	"files":    files,
	"folders":  folders,
	"allocate": allocate,
}

func handle(t guest.Task) (string, error) {
	name, rest, _ := strings.Cut(t.Message, " ")
	if name == "print" {
		fmt.Println(rest)
		return "", nil
	}
	work, ok := works[name]
	if !ok {
		return "", errors.New("nothing is called " + name)
	}
	return work()
}

func clocks() (string, error) {
	const nap = 5 * time.Millisecond
	before := time.Now()
	time.Sleep(nap)
	return fmt.Sprintf("slept %t, this century %t", time.Since(before) >= nap, before.Year() > 2000), nil
}

func random() (string, error) {
	var a, b [32]byte
	rand.Read(a[:])
	rand.Read(b[:])
	return fmt.Sprintf("different %t", a != b), nil
}

// files writes a file of a mebibyte and reads it again.
func files() (string, error) {
	const name = "/workdir/large"
	want := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	if err := os.WriteFile(name, want, 0o644); err != nil {
		return "", err
	}
	got, err := os.ReadFile(name)
	return fmt.Sprintf("%d bytes, the same %t", len(got), bytes.Equal(got, want)), err
}

func folders() (string, error) {
	const dir = "/workdir/a/b"
	err := errors.Join(
		os.MkdirAll(dir, 0o755),
		os.WriteFile(dir+"/one", []byte("1"), 0o644),
		os.Rename(dir+"/one", dir+"/two"))
	var names []string
	walk := fs.WalkDir(os.DirFS("/workdir/a"), ".", func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	_, stat := os.Stat("/workdir/none")
	return fmt.Sprintf("%s, none %t", strings.Join(names, " "), errors.Is(stat, fs.ErrNotExist)),
		errors.Join(err, walk, os.RemoveAll("/workdir/a"))
}

// allocate fills 200 MiB, calls the system in between, and looks at them again.
func allocate() (string, error) {
	blocks := make([][]byte, 200)
	bad := 0
	for i := range blocks {
		blocks[i] = bytes.Repeat([]byte{byte(i + 1)}, 1<<20)
		if _, err := os.Stat("/workdir"); err != nil {
			return "", err
		}
	}
	for i, b := range blocks {
		bad += len(b) - bytes.Count(b, []byte{byte(i + 1)})
	}
	return fmt.Sprintf("%d blocks, %d bytes bad", len(blocks), bad), nil
}
