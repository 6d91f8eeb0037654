package containment

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	Hook()
	os.Exit(m.Run())
}
