package host

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2/maybe"
)

// A diskCache keeps what wazero compiled, in one directory for each module,
// named by the digest of the module. wazero believes what it finds there: it
// allocates what a file says, and runs it. So beside its files lies a list of
// their digests, and what does not agree with it is thrown away before wazero
// sees it.
type diskCache struct{ dir string }

func openDiskCache(dir string) (*diskCache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errors.New("it is not a directory")
	}
	if err := checkOwner(info); err != nil {
		return nil, err
	}
	return &diskCache{dir: dir}, nil
}

// A cacheEntry is the place of one module.
type cacheEntry struct{ dir string }

const (
	sumsFile    = "digests"
	maxSumsFile = 1 << 20
)

// entry is the place of a module with this key.
func (c *diskCache) entry(key string) cacheEntry { return cacheEntry{filepath.Join(c.dir, key)} }

// lock keeps other processes from making the same entry meanwhile. The lock's
// file stays: removing it would let two hold it.
func (e cacheEntry) lock(ctx context.Context) (unlock func(), err error) {
	l := flock.New(e.dir + ".lock")
	if _, err := l.TryLockContext(ctx, 50*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// sound tells whether the entry holds exactly what was sealed.
func (e cacheEntry) sound() bool {
	want, err := e.sealed()
	if err != nil {
		return false
	}
	have, err := e.digests()
	return err == nil && have != "" && have == want
}

// sealed is the list of digests that the entry was sealed with. What lies there
// may be anything.
func (e cacheEntry) sealed() (string, error) {
	path := filepath.Join(e.dir, sumsFile)
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSumsFile {
		return "", fmt.Errorf("%s is no list of digests", path)
	}
	b, err := os.ReadFile(path)
	return string(b), err
}

// seal notes what is in the entry, for sound.
func (e cacheEntry) seal() error {
	sums, err := e.digests()
	if err != nil {
		return err
	}
	return maybe.WriteFile(filepath.Join(e.dir, sumsFile), []byte(sums), 0o600)
}

// clear throws the entry away.
func (e cacheEntry) clear() error { return os.RemoveAll(e.dir) }

// complete tells whether no file was added since the entry was sealed.
func (e cacheEntry) complete() bool {
	sums, err := e.sealed()
	if err != nil {
		return false
	}
	files, err := e.files()
	return err == nil && len(files) == strings.Count(sums, "\n")
}

// digests lists the entry's files with their digests, as sha256sum does.
func (e cacheEntry) digests() (string, error) {
	files, err := e.files()
	if err != nil {
		return "", err
	}
	var list strings.Builder
	for _, rel := range files {
		sum, err := digestOf(filepath.Join(e.dir, rel))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&list, "%s  %s\n", sum, rel)
	}
	return list.String(), nil
}

// files lists the entry's files, without the list of digests, in order.
func (e cacheEntry) files() (rels []string, err error) {
	err = filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == filepath.Join(e.dir, sumsFile) {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		rel, err := filepath.Rel(e.dir, path)
		rels = append(rels, rel)
		return err
	})
	return rels, err
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, bufio.NewReaderSize(f, 1<<20)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
