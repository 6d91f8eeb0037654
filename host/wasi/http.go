package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// The resources of wasi:http that a guest without a network never gets. It can
// make requests; see the other files.
type (
	incomingRequest  struct{}
	responseOutparam struct{}
	incomingResponse struct{}
	incomingBody     struct{}
	futureTrailers   struct{}
	outgoingResponse struct{}
	futureResponse   struct{}
)

type (
	ownFields          = host.Own[*fields]
	borrowFields       = host.Borrow[*fields]
	headerDone         = host.Result[host.Unit, headerError]
	trailersOutcome    = *bareResult[httpResult[*ownFields]]
	responseOutcome    = *bareResult[httpResult[host.Own[*incomingResponse]]]
	ownOutgoingBody    = host.Own[*outgoingBody]
	borrowRequest      = host.Borrow[*outgoingRequest]
	borrowOptions      = host.Borrow[*requestOptions]
	borrowOutgoing     = host.Borrow[*outgoingResponse]
	borrowIncoming     = host.Borrow[*incomingRequest]
	ownFutureResponse  = host.Own[*futureResponse]
	ownOutgoingRequest = host.Own[*outgoingRequest]
)

var (
	fieldsResource           = host.NewResource("fields", (*fields).drop)
	incomingRequestResource  = host.NewResource[*incomingRequest]("incoming-request", nil)
	outgoingRequestResource  = host.NewResource("outgoing-request", (*outgoingRequest).drop)
	requestOptionsResource   = host.NewResource[*requestOptions]("request-options", nil)
	responseOutparamResource = host.NewResource[*responseOutparam]("response-outparam", nil)
	incomingResponseResource = host.NewResource[*incomingResponse]("incoming-response", nil)
	incomingBodyResource     = host.NewResource[*incomingBody]("incoming-body", nil)
	futureTrailersResource   = host.NewResource[*futureTrailers]("future-trailers", nil)
	outgoingResponseResource = host.NewResource[*outgoingResponse]("outgoing-response", nil)
	outgoingBodyResource     = host.NewResource[*outgoingBody]("outgoing-body", nil)
	futureResponseResource   = host.NewResource[*futureResponse]("future-incoming-response", nil)

	outgoingHandlerPlugin = host.NewPlugin(named("wasi:http/outgoing-handler"),
		outgoingRequestResource.Used(), requestOptionsResource.Used(), futureResponseResource.Used(),
		host.Func2("handle", send))

	httpTypesPlugin = host.NewPlugin(named("wasi:http/types"),
		fieldsResource, incomingRequestResource, outgoingRequestResource, requestOptionsResource, responseOutparamResource,
		incomingResponseResource, incomingBodyResource, futureTrailersResource, outgoingResponseResource, outgoingBodyResource,
		futureResponseResource, inputResource.Used(), outputResource.Used(), errorResource.Used(), pollableResource.Used(),

		host.Func1("http-error-code", func(context.Context, host.Borrow[*streamFailure]) (*httpCode, error) { return nil, nil }),

		host.Method0("[constructor]fields", (*instance).newFields),
		host.Method1("[static]fields.from-list", (*instance).fieldsFrom),
		host.Func2("[method]fields.get", func(_ context.Context, f borrowFields, name string) ([][]byte, error) {
			return f.Value.get(name), nil
		}),
		host.Func2("[method]fields.has", func(_ context.Context, f borrowFields, name string) (bool, error) {
			return f.Value.get(name) != nil, nil
		}),
		host.Func3("[method]fields.set", func(_ context.Context, f borrowFields, name string, values [][]byte) (headerDone, error) {
			return f.Value.set(name, values)
		}),
		host.Func2("[method]fields.delete", func(_ context.Context, f borrowFields, name string) (headerDone, error) {
			return f.Value.remove(name), nil
		}),
		host.Func3("[method]fields.append", func(_ context.Context, f borrowFields, name string, value []byte) (headerDone, error) {
			return f.Value.add(name, value)
		}),
		host.Func1("[method]fields.entries", func(_ context.Context, f borrowFields) ([]field, error) { return f.Value.list, nil }),
		host.Func1("[method]fields.clone", func(_ context.Context, f borrowFields) (ownFields, error) { return f.Value.copy(false) }),

		refuse1[borrowIncoming, httpMethod]("[method]incoming-request.method"),
		refuse1[borrowIncoming, *string]("[method]incoming-request.path-with-query"),
		refuse1[borrowIncoming, *httpScheme]("[method]incoming-request.scheme"),
		refuse1[borrowIncoming, *string]("[method]incoming-request.authority"),
		refuse1[borrowIncoming, ownFields]("[method]incoming-request.headers"),
		refuse1[borrowIncoming, bareResult[host.Own[*incomingBody]]]("[method]incoming-request.consume"),

		host.Func1("[constructor]outgoing-request", newRequest),
		host.Func1("[method]outgoing-request.body", func(_ context.Context, r borrowRequest) (bareResult[ownOutgoingBody], error) {
			return r.Value.body(), nil
		}),
		host.Func1("[method]outgoing-request.method", func(_ context.Context, r borrowRequest) (httpMethod, error) {
			return r.Value.method, nil
		}),
		host.Func2("[method]outgoing-request.set-method", func(_ context.Context, r borrowRequest, m httpMethod) (plain, error) {
			return r.Value.setMethod(m)
		}),
		host.Func1("[method]outgoing-request.path-with-query", func(_ context.Context, r borrowRequest) (*string, error) {
			return r.Value.path, nil
		}),
		host.Func2("[method]outgoing-request.set-path-with-query", func(_ context.Context, r borrowRequest, p *string) (plain, error) {
			return r.Value.setText(&r.Value.path, p)
		}),
		host.Func1("[method]outgoing-request.scheme", func(_ context.Context, r borrowRequest) (*httpScheme, error) {
			return r.Value.scheme, nil
		}),
		host.Func2("[method]outgoing-request.set-scheme", func(_ context.Context, r borrowRequest, s *httpScheme) (plain, error) {
			return r.Value.setScheme(s)
		}),
		host.Func1("[method]outgoing-request.authority", func(_ context.Context, r borrowRequest) (*string, error) {
			return r.Value.authority, nil
		}),
		host.Func2("[method]outgoing-request.set-authority", func(_ context.Context, r borrowRequest, a *string) (plain, error) {
			return r.Value.setText(&r.Value.authority, a)
		}),
		host.Func1("[method]outgoing-request.headers", func(_ context.Context, r borrowRequest) (ownFields, error) {
			return r.Value.headers.copy(true)
		}),

		host.Func0("[constructor]request-options", func(context.Context) (host.Own[*requestOptions], error) {
			return host.Own[*requestOptions]{Value: &requestOptions{}}, nil
		}),
		timeout("connect-timeout", func(o *requestOptions) **uint64 { return &o.connect }),
		setTimeout("set-connect-timeout", func(o *requestOptions) **uint64 { return &o.connect }),
		timeout("first-byte-timeout", func(o *requestOptions) **uint64 { return &o.firstByte }),
		setTimeout("set-first-byte-timeout", func(o *requestOptions) **uint64 { return &o.firstByte }),
		timeout("between-bytes-timeout", func(o *requestOptions) **uint64 { return &o.betweenBytes }),
		setTimeout("set-between-bytes-timeout", func(o *requestOptions) **uint64 { return &o.betweenBytes }),

		refuse3[host.Borrow[*responseOutparam], uint16, ownFields, httpResult[host.Unit]]("[method]response-outparam.send-informational"),
		refuse2[host.Own[*responseOutparam], httpResult[host.Own[*outgoingResponse]], host.Unit]("[static]response-outparam.set"),

		refuse1[host.Borrow[*incomingResponse], uint16]("[method]incoming-response.status"),
		refuse1[host.Borrow[*incomingResponse], ownFields]("[method]incoming-response.headers"),
		refuse1[host.Borrow[*incomingResponse], bareResult[host.Own[*incomingBody]]]("[method]incoming-response.consume"),

		refuse1[host.Borrow[*incomingBody], bareResult[host.Own[*inputStream]]]("[method]incoming-body.stream"),
		refuse1[host.Own[*incomingBody], host.Own[*futureTrailers]]("[static]incoming-body.finish"),
		refuse1[host.Borrow[*futureTrailers], ownPollable]("[method]future-trailers.subscribe"),
		refuse1[host.Borrow[*futureTrailers], trailersOutcome]("[method]future-trailers.get"),

		refuse1[ownFields, host.Own[*outgoingResponse]]("[constructor]outgoing-response"),
		refuse1[borrowOutgoing, uint16]("[method]outgoing-response.status-code"),
		refuse2[borrowOutgoing, uint16, plain]("[method]outgoing-response.set-status-code"),
		refuse1[borrowOutgoing, ownFields]("[method]outgoing-response.headers"),
		refuse1[borrowOutgoing, bareResult[ownOutgoingBody]]("[method]outgoing-response.body"),

		host.Func1("[method]outgoing-body.write", func(_ context.Context, b host.Borrow[*outgoingBody]) (bareResult[host.Own[*outputStream]], error) {
			return b.Value.write(), nil
		}),
		host.Func2("[static]outgoing-body.finish", func(_ context.Context, _ ownOutgoingBody, trailers *ownFields) (httpResult[host.Unit], error) {
			if trailers != nil {
				trailers.Value.drop()
			}
			return host.Fail[host.Unit](httpCode{HTTPRequestDenied: true}), nil
		}),

		refuse1[host.Borrow[*futureResponse], ownPollable]("[method]future-incoming-response.subscribe"),
		refuse1[host.Borrow[*futureResponse], responseOutcome]("[method]future-incoming-response.get"),
	)
)

// timeout and setTimeout are the methods of one of the request's timeouts.
func timeout(name string, of func(*requestOptions) **uint64) host.Item {
	return host.Func1("[method]request-options."+name, func(_ context.Context, o borrowOptions) (*uint64, error) {
		return *of(o.Value), nil
	})
}

func setTimeout(name string, of func(*requestOptions) **uint64) host.Item {
	return host.Func2("[method]request-options."+name, func(_ context.Context, o borrowOptions, d *uint64) (plain, error) {
		*of(o.Value) = d
		return plain{}, nil
	})
}
