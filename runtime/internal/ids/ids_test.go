package ids_test

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/murmur-capsule/murmur/runtime/internal/ids"
)

var kinds = []ids.Kind{ids.Session, ids.Task, ids.Context, ids.Message, ids.Work}

func TestNew_Shape(t *testing.T) {
	for _, kind := range kinds {
		shape := regexp.MustCompile("^" + string(kind) + "[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$")
		assert.Regexp(t, shape, kind.New())
	}
	assert.Regexp(t, `^wrk_[0-9a-f]+$`, ids.Work.New())
}

func TestNew_SortsByCreation(t *testing.T) {
	made := make([]string, 10_000)
	for i := range made {
		made[i] = ids.Work.New()
	}
	assert.True(t, slices.IsSorted(made))
	assert.Len(t, slices.Compact(made), 10_000)
}

func TestNew_UniqueAcrossGoroutines(t *testing.T) {
	var seen sync.Map
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 500 {
				_, twice := seen.LoadOrStore(ids.Task.New(), true)
				assert.False(t, twice)
			}
		})
	}
	wait.Wait()
}

func TestValid(t *testing.T) {
	for _, kind := range kinds {
		good := kind.New()
		assert.True(t, kind.Valid(good))
		for _, bad := range []string{
			"", string(kind), good[4:], good + "0", good[:len(good)-1], " " + good, good + "\n",
			strings.ToUpper(good), string(kind) + strings.Repeat("g", 32), string(kind) + "../" + good[7:],
		} {
			assert.False(t, kind.Valid(bad), "%q", bad)
		}
	}
	assert.False(t, ids.Work.Valid(ids.Task.New()))
}
