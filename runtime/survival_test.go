package runtime

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSurvivalNote(t *testing.T) {
	assert.Contains(t, survivalNote(true, false), "does not survive the runtime")
	assert.Empty(t, survivalNote(true, true))
	assert.Empty(t, survivalNote(false, false), "nobody asked for it")
}
