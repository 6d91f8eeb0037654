package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// An outgoingRequest is a request as a guest makes it, to be refused when the
// guest sends it.
type outgoingRequest struct {
	headers         *fields
	method          httpMethod
	path, authority *string
	scheme          *httpScheme
	hasBody         bool
	bytes           int
}

func newRequest(_ context.Context, headers ownFields) (ownOutgoingRequest, error) {
	r := &outgoingRequest{headers: headers.Value, method: httpMethod{Get: true}}
	return ownOutgoingRequest{Value: r}, r.grow(httpObject)
}

func (r *outgoingRequest) grow(n int) error {
	if err := r.headers.i.spend(n); err != nil {
		return err
	}
	r.bytes += n
	return nil
}

func (r *outgoingRequest) drop() {
	r.headers.i.httpBytes -= r.bytes
	r.headers.drop()
}

// textSize is what an optional text weighs.
func textSize(s *string) int {
	if s == nil {
		return 0
	}
	return len(*s)
}

func schemeSize(s *httpScheme) int {
	if s == nil {
		return 0
	}
	return textSize(s.Other)
}

// setText sets an optional part of the request.
func (r *outgoingRequest) setText(at **string, to *string) (plain, error) {
	if err := r.grow(textSize(to) - textSize(*at)); err != nil {
		return plain{}, err
	}
	*at = to
	return plain{}, nil
}

func (r *outgoingRequest) setMethod(m httpMethod) (plain, error) {
	if m.Other != nil && !isToken(*m.Other) {
		return host.Fail[host.Unit](host.Unit{}), nil
	}
	if err := r.grow(textSize(m.Other) - textSize(r.method.Other)); err != nil {
		return plain{}, err
	}
	r.method = m
	return plain{}, nil
}

func (r *outgoingRequest) setScheme(s *httpScheme) (plain, error) {
	if err := r.grow(schemeSize(s) - schemeSize(r.scheme)); err != nil {
		return plain{}, err
	}
	r.scheme = s
	return plain{}, nil
}

// body gives the body, once.
func (r *outgoingRequest) body() bareResult[ownOutgoingBody] {
	if r.hasBody {
		return host.Fail[ownOutgoingBody](host.Unit{})
	}
	r.hasBody = true
	return host.Ok[ownOutgoingBody, host.Unit](ownOutgoingBody{Value: &outgoingBody{i: r.headers.i}})
}

// An outgoingBody is a body that goes nowhere: its stream is closed.
type outgoingBody struct {
	i      *instance
	opened bool
}

func (b *outgoingBody) write() bareResult[host.Own[*outputStream]] {
	if b.opened {
		return host.Fail[host.Own[*outputStream]](host.Unit{})
	}
	b.opened = true
	s := &outputStream{i: b.i, dst: output{}, failed: true}
	return host.Ok[host.Own[*outputStream], host.Unit](host.Own[*outputStream]{Value: s})
}

// send refuses a request, which it was given for good.
func send(_ context.Context, r ownOutgoingRequest, _ *host.Own[*requestOptions]) (httpResult[ownFutureResponse], error) {
	r.Value.drop()
	return host.Fail[ownFutureResponse](httpCode{HTTPRequestDenied: true}), nil
}

// requestOptions are the timeouts of a request, in nanoseconds.
type requestOptions struct{ connect, firstByte, betweenBytes *uint64 }
