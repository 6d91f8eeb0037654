package wasi

import "github.com/murmur-capsule/murmur/host"

// A socketCode is enum error-code of wasi:sockets/network.
type socketCode uint8

const socketAccessDenied socketCode = 1

// WITEnum are the names of the cases.
func (socketCode) WITEnum() []string {
	return []string{
		"unknown", "access-denied", "not-supported", "invalid-argument", "out-of-memory", "timeout",
		"concurrency-conflict", "not-in-progress", "would-block", "invalid-state", "new-socket-limit",
		"address-not-bindable", "address-in-use", "remote-unreachable", "connection-refused", "connection-reset",
		"connection-aborted", "datagram-too-large", "name-unresolvable", "temporary-resolver-failure",
		"permanent-resolver-failure",
	}
}

// socketResult is what the functions of sockets answer.
type socketResult[T any] = host.Result[T, socketCode]

// An addressFamily is enum ip-address-family.
type addressFamily uint8

// WITEnum are the names of the cases.
func (addressFamily) WITEnum() []string { return []string{"ipv4", "ipv6"} }

type (
	ipv4Address struct{ A, B, C, D uint8 }
	ipv6Address struct{ A, B, C, D, E, F, G, H uint16 }

	ipAddress struct {
		IPv4 *ipv4Address `wit:"ipv4"`
		IPv6 *ipv6Address `wit:"ipv6"`
	}

	ipv4SocketAddress struct {
		Port    uint16
		Address ipv4Address
	}

	ipv6SocketAddress struct {
		Port     uint16
		FlowInfo uint32
		Address  ipv6Address
		ScopeID  uint32
	}

	socketAddress struct {
		IPv4 *ipv4SocketAddress `wit:"ipv4"`
		IPv6 *ipv6SocketAddress `wit:"ipv6"`
	}
)

// WITTuple says that an address travels as a tuple.
func (ipv4Address) WITTuple() {}

// WITTuple says that an address travels as a tuple.
func (ipv6Address) WITTuple() {}

// WITVariant says that exactly one field is set.
func (ipAddress) WITVariant() {}

// WITVariant says that exactly one field is set.
func (socketAddress) WITVariant() {}

// A shutdownType is enum shutdown-type.
type shutdownType uint8

// WITEnum are the names of the cases.
func (shutdownType) WITEnum() []string { return []string{"receive", "send", "both"} }

type (
	incomingDatagram struct {
		Data          []byte
		RemoteAddress socketAddress
	}
	outgoingDatagram struct {
		Data          []byte
		RemoteAddress *socketAddress
	}
)

// The resources. A guest can have a network, which is a token and leads nowhere;
// there are no values of the others.
type (
	network        struct{}
	tcpSocket      struct{}
	udpSocket      struct{}
	datagramInput  struct{}
	datagramOutput struct{}
	addressStream  struct{}
)

// What functions of sockets return beside plain values.
type (
	tcpStreams struct {
		In  host.Own[*inputStream]
		Out host.Own[*outputStream]
	}
	tcpAccepted struct {
		Socket host.Own[*tcpSocket]
		In     host.Own[*inputStream]
		Out    host.Own[*outputStream]
	}
	udpStreams struct {
		In  host.Own[*datagramInput]
		Out host.Own[*datagramOutput]
	}
)

// WITTuple says that the streams travel as a tuple.
func (tcpStreams) WITTuple() {}

// WITTuple says that the streams travel as a tuple.
func (tcpAccepted) WITTuple() {}

// WITTuple says that the streams travel as a tuple.
func (udpStreams) WITTuple() {}
