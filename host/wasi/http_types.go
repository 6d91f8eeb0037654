package wasi

import "github.com/murmur-capsule/murmur/host"

// An httpMethod is variant method.
type httpMethod struct {
	Get, Head, Post, Put, Delete, Connect, Options, Trace, Patch bool

	Other *string
}

// WITVariant says that exactly one field is set.
func (httpMethod) WITVariant() {}

// An httpScheme is variant scheme.
type httpScheme struct {
	HTTP  bool `wit:"HTTP"`
	HTTPS bool `wit:"HTTPS"`
	Other *string
}

// WITVariant says that exactly one field is set.
func (httpScheme) WITVariant() {}

// A headerError is variant header-error.
type headerError struct{ InvalidSyntax, Forbidden, Immutable bool }

// WITVariant says that exactly one field is set.
func (headerError) WITVariant() {}

type (
	dnsErrorPayload struct {
		Rcode    *string
		InfoCode *uint16
	}
	tlsAlertPayload struct {
		AlertID      *uint8
		AlertMessage *string
	}
	fieldSizePayload struct {
		FieldName *string
		FieldSize *uint32
	}
)

// An httpCode is variant error-code of wasi:http/types.
type httpCode struct {
	DNSTimeout                     bool               `wit:"DNS-timeout"`
	DNSError                       *dnsErrorPayload   `wit:"DNS-error"`
	DestinationNotFound            bool               `wit:"destination-not-found"`
	DestinationUnavailable         bool               `wit:"destination-unavailable"`
	DestinationIPProhibited        bool               `wit:"destination-IP-prohibited"`
	DestinationIPUnroutable        bool               `wit:"destination-IP-unroutable"`
	ConnectionRefused              bool               `wit:"connection-refused"`
	ConnectionTerminated           bool               `wit:"connection-terminated"`
	ConnectionTimeout              bool               `wit:"connection-timeout"`
	ConnectionReadTimeout          bool               `wit:"connection-read-timeout"`
	ConnectionWriteTimeout         bool               `wit:"connection-write-timeout"`
	ConnectionLimitReached         bool               `wit:"connection-limit-reached"`
	TLSProtocolError               bool               `wit:"TLS-protocol-error"`
	TLSCertificateError            bool               `wit:"TLS-certificate-error"`
	TLSAlertReceived               *tlsAlertPayload   `wit:"TLS-alert-received"`
	HTTPRequestDenied              bool               `wit:"HTTP-request-denied"`
	HTTPRequestLengthRequired      bool               `wit:"HTTP-request-length-required"`
	HTTPRequestBodySize            **uint64           `wit:"HTTP-request-body-size"`
	HTTPRequestMethodInvalid       bool               `wit:"HTTP-request-method-invalid"`
	HTTPRequestURIInvalid          bool               `wit:"HTTP-request-URI-invalid"`
	HTTPRequestURITooLong          bool               `wit:"HTTP-request-URI-too-long"`
	HTTPRequestHeaderSectionSize   **uint32           `wit:"HTTP-request-header-section-size"`
	HTTPRequestHeaderSize          **fieldSizePayload `wit:"HTTP-request-header-size"`
	HTTPRequestTrailerSectionSize  **uint32           `wit:"HTTP-request-trailer-section-size"`
	HTTPRequestTrailerSize         *fieldSizePayload  `wit:"HTTP-request-trailer-size"`
	HTTPResponseIncomplete         bool               `wit:"HTTP-response-incomplete"`
	HTTPResponseHeaderSectionSize  **uint32           `wit:"HTTP-response-header-section-size"`
	HTTPResponseHeaderSize         *fieldSizePayload  `wit:"HTTP-response-header-size"`
	HTTPResponseBodySize           **uint64           `wit:"HTTP-response-body-size"`
	HTTPResponseTrailerSectionSize **uint32           `wit:"HTTP-response-trailer-section-size"`
	HTTPResponseTrailerSize        *fieldSizePayload  `wit:"HTTP-response-trailer-size"`
	HTTPResponseTransferCoding     **string           `wit:"HTTP-response-transfer-coding"`
	HTTPResponseContentCoding      **string           `wit:"HTTP-response-content-coding"`
	HTTPResponseTimeout            bool               `wit:"HTTP-response-timeout"`
	HTTPUpgradeFailed              bool               `wit:"HTTP-upgrade-failed"`
	HTTPProtocolError              bool               `wit:"HTTP-protocol-error"`
	LoopDetected                   bool               `wit:"loop-detected"`
	ConfigurationError             bool               `wit:"configuration-error"`
	InternalError                  **string           `wit:"internal-error"`
}

// WITVariant says that exactly one field is set.
func (httpCode) WITVariant() {}

// httpResult is what functions of wasi:http answer that have an error code, and
// bareResult what those answer that have none.
type (
	httpResult[T any] = host.Result[T, httpCode]
	bareResult[T any] = host.Result[T, host.Unit]
)

// A field is one header: tuple<string, list<u8>>.
type field struct {
	Name  string
	Value []byte
}

// WITTuple says that a field travels as a tuple.
func (field) WITTuple() {}
