package wasi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/murmur-capsule/murmur/host"
)

// maxHTTP is how many bytes of fields and requests a guest may have the host
// hold; each of them counts a little more than what is in it.
const (
	maxHTTP    = 1 << 20
	httpObject = 64
)

// fields are the headers of a request that is never sent. Guests make them before
// they are told that there is no network, and some only to reckon with them.
type fields struct {
	i         *instance
	list      []field
	bytes     int
	immutable bool
}

// spend counts what the guest has the host hold for wasi:http; what is negative is
// given back.
func (i *instance) spend(n int) error {
	if i.httpBytes+n > maxHTTP {
		return fmt.Errorf("the guest keeps more than %d bytes of HTTP fields and requests", maxHTTP)
	}
	i.httpBytes += n
	return nil
}

func (i *instance) newFields(context.Context) (ownFields, error) {
	f := &fields{i: i}
	return ownFields{Value: f}, f.grow(httpObject)
}

func (f *fields) grow(n int) error {
	if err := f.i.spend(n); err != nil {
		return err
	}
	f.bytes += n
	return nil
}

func (f *fields) drop() { f.i.httpBytes -= f.bytes }

// copy is a copy with its own life. Nobody changes the fields themselves, so that
// they can be shared.
func (f *fields) copy(immutable bool) (ownFields, error) {
	c := &fields{i: f.i, list: slices.Clone(f.list), immutable: immutable}
	return ownFields{Value: c}, c.grow(f.bytes)
}

func (i *instance) fieldsFrom(ctx context.Context, list []field) (host.Result[ownFields, headerError], error) {
	own, err := i.newFields(ctx)
	if err != nil {
		return host.Result[ownFields, headerError]{}, err
	}
	for _, e := range list {
		r, err := own.Value.add(e.Name, e.Value)
		if err != nil || r.IsErr {
			own.Value.drop()
			return host.Fail[ownFields](r.Err), err
		}
	}
	return host.Ok[ownFields, headerError](own), nil
}

func (f *fields) get(name string) [][]byte {
	var values [][]byte
	for _, e := range f.list {
		if strings.EqualFold(e.Name, name) {
			values = append(values, e.Value)
		}
	}
	return values
}

// add adds one field.
func (f *fields) add(name string, value []byte) (headerDone, error) {
	if r := f.mayHave(name, value); r.IsErr {
		return r, nil
	}
	if err := f.grow(len(name) + len(value) + httpObject); err != nil {
		return headerDone{}, err
	}
	f.list = append(f.list, field{name, value})
	return headerDone{}, nil
}

// remove removes all fields of a name.
func (f *fields) remove(name string) headerDone {
	if r := f.mayHave(name); r.IsErr {
		return r
	}
	f.list = slices.DeleteFunc(f.list, func(e field) bool {
		if !strings.EqualFold(e.Name, name) {
			return false
		}
		n := len(e.Name) + len(e.Value) + httpObject
		f.bytes -= n
		f.i.httpBytes -= n
		return true
	})
	return headerDone{}
}

// set replaces the fields of a name.
func (f *fields) set(name string, values [][]byte) (headerDone, error) {
	if r := f.mayHave(name, values...); r.IsErr {
		return r, nil
	}
	f.remove(name)
	for _, v := range values {
		if _, err := f.add(name, v); err != nil {
			return headerDone{}, err
		}
	}
	return headerDone{}, nil
}

// mayHave tells whether the fields may be changed so.
func (f *fields) mayHave(name string, values ...[]byte) headerDone {
	if f.immutable {
		return host.Fail[host.Unit](headerError{Immutable: true})
	}
	valid := isToken(name)
	for _, v := range values {
		valid = valid && !slices.ContainsFunc(v, func(b byte) bool { return b == '\r' || b == '\n' || b == 0 })
	}
	if !valid {
		return host.Fail[host.Unit](headerError{InvalidSyntax: true})
	}
	return headerDone{}
}

// isToken tells whether s is a token as RFC 9110, section 5.6.2, has it.
func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	for n := range len(s) {
		c := s[n]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(marks, c) >= 0) {
			return false
		}
	}
	return s != ""
}
