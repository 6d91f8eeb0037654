//go:build unix

package jobs

import (
	"errors"
	"os"
)

// syncDir makes the names in dir durable: a rename that is only in memory is
// undone by a power cut, whatever was synced before it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
