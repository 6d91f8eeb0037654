package wasi

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEnvironment(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	args := []string{"greeter", "", "--name=é"}
	i, err := newInstance(Config{Args: args, Env: []string{"A=1", "B=x=y", "A=2", "C="}, Workdir: root})
	require.NoError(t, err)
	assert.Equal(t, args, i.args)
	assert.Equal(t, []variable{{"PWD", "/workdir"}, {"A", "2"}, {"B", "x=y"}, {"C", ""}}, i.env)
	require.NotNil(t, i.cwd)
	assert.Equal(t, "/workdir", *i.cwd)

	i, err = newInstance(Config{Env: []string{"PWD=/"}, Workdir: root})
	require.NoError(t, err)
	assert.Equal(t, []variable{{"PWD", "/"}}, i.env, "the caller knows better")
}

// TestInstancesAreApart: the plugins of two instances have nothing in common that
// a guest could write to.
func TestInstancesAreApart(t *testing.T) {
	var outputs [2]bytes.Buffer
	for n, name := range []string{"a", "b"} {
		i, err := newInstance(Config{Args: []string{name}, Stdout: &outputs[n], Stdin: strings.NewReader(name)})
		require.NoError(t, err)
		s := i.openStdin().Value
		p, _ := s.read(10)
		require.NoError(t, i.stdout.write(context.Background(), append(p, i.args[0]...)))
		s.drop()
	}
	assert.Equal(t, "aa", outputs[0].String())
	assert.Equal(t, "bb", outputs[1].String())
}

func TestRandom(t *testing.T) {
	ctx := context.Background()
	a, err := randomBytes(ctx, 32)
	require.NoError(t, err)
	b, err := randomBytes(ctx, 32)
	require.NoError(t, err)
	assert.Len(t, a, 32)
	assert.NotEqual(t, a, b)
	none, err := randomBytes(ctx, 0)
	require.NoError(t, err)
	assert.Empty(t, none)
	for _, n := range []uint64{maxRandom + 1, 1 << 63} {
		_, err = randomBytes(ctx, n)
		assert.ErrorContains(t, err, "can have 67108864 at a time")
	}
	x, err := randomNumber(ctx)
	require.NoError(t, err)
	y, err := randomNumber(ctx)
	require.NoError(t, err)
	assert.NotEqual(t, x, y)
}
