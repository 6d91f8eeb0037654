package wasi

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFields(t *testing.T) {
	ctx := context.Background()
	i, err := newInstance(Config{})
	require.NoError(t, err)
	made, err := i.fieldsFrom(ctx, []field{{"Accept", []byte("a")}, {"X-Y", nil}, {"accept", []byte("b")}})
	require.NoError(t, err)
	require.False(t, made.IsErr)
	f := made.OK.Value
	assert.Equal(t, [][]byte{[]byte("a"), []byte("b")}, f.get("ACCEPT"))
	assert.Nil(t, f.get("missing"))

	r, err := f.set("Accept", [][]byte{[]byte("c")})
	require.NoError(t, err)
	assert.False(t, r.IsErr)
	assert.Equal(t, []field{{"X-Y", nil}, {"Accept", []byte("c")}}, f.list)
	assert.False(t, f.remove("x-y").IsErr)

	for _, bad := range []field{{"", nil}, {"a b", nil}, {"é", nil}, {"A:", nil}, {"A", []byte("x\r\nB: y")}, {"A", []byte{0}}} {
		r, err := f.add(bad.Name, bad.Value)
		require.NoError(t, err)
		assert.True(t, r.Err.InvalidSyntax, "%q", bad)
		made, err := i.fieldsFrom(ctx, []field{{"A", nil}, bad})
		require.NoError(t, err)
		assert.True(t, made.Err.InvalidSyntax)
	}

	frozen, err := f.copy(true)
	require.NoError(t, err)
	assert.True(t, frozen.Value.remove("Accept").Err.Immutable)
	clone, err := frozen.Value.copy(false)
	require.NoError(t, err)
	assert.False(t, clone.Value.remove("Accept").IsErr)
	assert.Len(t, frozen.Value.list, 1, "a copy has a life of its own")
	for _, f := range []*fields{f, frozen.Value, clone.Value} {
		f.drop()
	}
	assert.Zero(t, i.httpBytes)
}

// TestRequestsAreRefused when they are sent, and no earlier.
func TestRequestsAreRefused(t *testing.T) {
	ctx := context.Background()
	i, err := newInstance(Config{})
	require.NoError(t, err)
	headers, err := i.newFields(ctx)
	require.NoError(t, err)
	own, err := newRequest(ctx, headers)
	require.NoError(t, err)
	r := own.Value
	assert.True(t, r.method.Get)

	path, token, bad := "/a?b", "BREW", "not a token"
	for _, set := range []func() (plain, error){
		func() (plain, error) { return r.setText(&r.path, &path) },
		func() (plain, error) { return r.setText(&r.authority, &path) },
		func() (plain, error) { return r.setText(&r.authority, nil) },
		func() (plain, error) { return r.setMethod(httpMethod{Other: &token}) },
		func() (plain, error) { return r.setScheme(&httpScheme{Other: &token}) },
		func() (plain, error) { return r.setScheme(&httpScheme{HTTPS: true}) },
	} {
		answer, err := set()
		require.NoError(t, err)
		assert.False(t, answer.IsErr)
	}
	answer, err := r.setMethod(httpMethod{Other: &bad})
	require.NoError(t, err)
	assert.True(t, answer.IsErr)
	assert.Equal(t, &path, r.path)
	assert.Equal(t, &token, r.method.Other)

	body := r.body()
	require.False(t, body.IsErr)
	assert.True(t, r.body().IsErr, "there is one body")
	stream := body.OK.Value.write()
	require.False(t, stream.IsErr)
	assert.True(t, body.OK.Value.write().IsErr, "of one stream")
	written, err := stream.OK.Value.put(ctx, []byte("x"), maxWrite)
	require.NoError(t, err)
	assert.True(t, written.Err.Closed)
	stream.OK.Value.drop()

	sent, err := send(ctx, own, nil)
	require.NoError(t, err)
	assert.True(t, sent.Err.HTTPRequestDenied)
	assert.Zero(t, i.httpBytes)
}

// TestHTTPIsBounded in what it makes the host hold, all in all.
func TestHTTPIsBounded(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("x", maxHTTP+1)
	big := []byte(long)
	for name, fill := range map[string]func(i *instance) error{
		"a value": func(i *instance) error {
			_, err := i.fieldsFrom(ctx, []field{{"A", big}})
			return err
		},
		"many values": func(i *instance) error {
			f := &fields{i: i}
			for {
				if _, err := f.set("A", [][]byte{nil, nil}); err != nil {
					return err
				}
				if _, err := f.add("B", big[:1000]); err != nil {
					return err
				}
			}
		},
		"many objects": func(i *instance) error {
			for {
				if _, err := i.newFields(ctx); err != nil {
					return err
				}
			}
		},
		"copies": func(i *instance) error {
			own, err := i.newFields(ctx)
			for err == nil {
				_, err = own.Value.copy(true)
			}
			return err
		},
		"a path": func(i *instance) error {
			r := &outgoingRequest{headers: &fields{i: i}}
			_, err := r.setText(&r.path, &long)
			return err
		},
		"a scheme": func(i *instance) error {
			r := &outgoingRequest{headers: &fields{i: i}}
			_, err := r.setScheme(&httpScheme{Other: &long})
			return err
		},
	} {
		i, err := newInstance(Config{})
		require.NoError(t, err)
		assert.ErrorContains(t, fill(i), "keeps more than 1048576 bytes", name)
	}
}
