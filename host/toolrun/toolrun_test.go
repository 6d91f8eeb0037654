package toolrun_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/murmur-capsule/murmur/host/toolrun"
)

type noShell struct{}

func (noShell) Run(context.Context, toolrun.Input) toolrun.Result { return toolrun.Result{} }

func TestPluginHasTheShapesOfTheContract(t *testing.T) {
	p := toolrun.Plugin(noShell{})
	require.NoError(t, p.Err())
	assert.Equal(t, "murmur:tool/run@0.1.0", p.Name())
	assert.Equal(t, []string{"run: func(p0: record {data: option<string>, log-path: option<string>}) -> " +
		"record {status: enum {passed, failed, error}, summary: option<string>, data: option<string>, " +
		"data-path: option<string>, truncated: bool, metadata: list<tuple<string, string>>}"}, p.Functions())
}

func TestStatusNames(t *testing.T) {
	assert.Equal(t, "passed failed error", toolrun.Passed.String()+" "+toolrun.Failed.String()+" "+toolrun.Error.String())
	assert.Equal(t, "invalid status", toolrun.Status(3).String())
}
