package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

// The resources of wasi:http. A guest without a network can make none of them.
type (
	fields           struct{}
	incomingRequest  struct{}
	outgoingRequest  struct{}
	requestOptions   struct{}
	responseOutparam struct{}
	incomingResponse struct{}
	incomingBody     struct{}
	futureTrailers   struct{}
	outgoingResponse struct{}
	outgoingBody     struct{}
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
	fieldsResource           = host.NewResource[*fields]("fields", nil)
	incomingRequestResource  = host.NewResource[*incomingRequest]("incoming-request", nil)
	outgoingRequestResource  = host.NewResource[*outgoingRequest]("outgoing-request", nil)
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
		host.Func2("handle", func(context.Context, ownOutgoingRequest, *host.Own[*requestOptions]) (httpResult[ownFutureResponse], error) {
			return host.Fail[ownFutureResponse](httpCode{HTTPRequestDenied: true}), nil
		}))

	httpTypesPlugin = host.NewPlugin(named("wasi:http/types"),
		fieldsResource, incomingRequestResource, outgoingRequestResource, requestOptionsResource, responseOutparamResource,
		incomingResponseResource, incomingBodyResource, futureTrailersResource, outgoingResponseResource, outgoingBodyResource,
		futureResponseResource, inputResource.Used(), outputResource.Used(), errorResource.Used(), pollableResource.Used(),

		host.Func1("http-error-code", func(context.Context, host.Borrow[*streamFailure]) (*httpCode, error) { return nil, nil }),

		host.Func0("[constructor]fields", func(context.Context) (ownFields, error) { return ownFields{}, ErrNoNetwork }),
		host.Func1("[static]fields.from-list", func(context.Context, []field) (host.Result[ownFields, headerError], error) {
			return host.Fail[ownFields](headerError{Forbidden: true}), nil
		}),
		refuse2[borrowFields, string, [][]byte]("[method]fields.get"),
		refuse2[borrowFields, string, bool]("[method]fields.has"),
		refuse3[borrowFields, string, [][]byte, headerDone]("[method]fields.set"),
		refuse2[borrowFields, string, headerDone]("[method]fields.delete"),
		refuse3[borrowFields, string, []byte, headerDone]("[method]fields.append"),
		refuse1[borrowFields, []field]("[method]fields.entries"),
		refuse1[borrowFields, ownFields]("[method]fields.clone"),

		refuse1[borrowIncoming, httpMethod]("[method]incoming-request.method"),
		refuse1[borrowIncoming, *string]("[method]incoming-request.path-with-query"),
		refuse1[borrowIncoming, *httpScheme]("[method]incoming-request.scheme"),
		refuse1[borrowIncoming, *string]("[method]incoming-request.authority"),
		refuse1[borrowIncoming, ownFields]("[method]incoming-request.headers"),
		refuse1[borrowIncoming, bareResult[host.Own[*incomingBody]]]("[method]incoming-request.consume"),

		refuse1[ownFields, ownOutgoingRequest]("[constructor]outgoing-request"),
		refuse1[borrowRequest, bareResult[ownOutgoingBody]]("[method]outgoing-request.body"),
		refuse1[borrowRequest, httpMethod]("[method]outgoing-request.method"),
		refuse2[borrowRequest, httpMethod, plain]("[method]outgoing-request.set-method"),
		refuse1[borrowRequest, *string]("[method]outgoing-request.path-with-query"),
		refuse2[borrowRequest, *string, plain]("[method]outgoing-request.set-path-with-query"),
		refuse1[borrowRequest, *httpScheme]("[method]outgoing-request.scheme"),
		refuse2[borrowRequest, *httpScheme, plain]("[method]outgoing-request.set-scheme"),
		refuse1[borrowRequest, *string]("[method]outgoing-request.authority"),
		refuse2[borrowRequest, *string, plain]("[method]outgoing-request.set-authority"),
		refuse1[borrowRequest, ownFields]("[method]outgoing-request.headers"),

		host.Func0("[constructor]request-options", func(context.Context) (host.Own[*requestOptions], error) {
			return host.Own[*requestOptions]{}, ErrNoNetwork
		}),
		refuse1[borrowOptions, *uint64]("[method]request-options.connect-timeout"),
		refuse2[borrowOptions, *uint64, plain]("[method]request-options.set-connect-timeout"),
		refuse1[borrowOptions, *uint64]("[method]request-options.first-byte-timeout"),
		refuse2[borrowOptions, *uint64, plain]("[method]request-options.set-first-byte-timeout"),
		refuse1[borrowOptions, *uint64]("[method]request-options.between-bytes-timeout"),
		refuse2[borrowOptions, *uint64, plain]("[method]request-options.set-between-bytes-timeout"),

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

		refuse1[host.Borrow[*outgoingBody], bareResult[host.Own[*outputStream]]]("[method]outgoing-body.write"),
		refuse2[ownOutgoingBody, *ownFields, httpResult[host.Unit]]("[static]outgoing-body.finish"),

		refuse1[host.Borrow[*futureResponse], ownPollable]("[method]future-incoming-response.subscribe"),
		refuse1[host.Borrow[*futureResponse], responseOutcome]("[method]future-incoming-response.get"),
	)
)
