package wasi

import (
	"context"

	"github.com/murmur-capsule/murmur/host"
)

type (
	borrowNetwork = host.Borrow[*network]
	socketDone    = socketResult[host.Unit]
)

// A guest without a network is told so when it makes a socket or looks up a name:
// programs ask for the network itself before, and have no error for it.
var (
	networkResource = host.NewResource[*network]("network", nil)

	networkPlugin = host.NewPlugin(named("wasi:sockets/network"), networkResource, errorResource.Used(),
		host.Func1("network-error-code", func(context.Context, host.Borrow[*streamFailure]) (*socketCode, error) { return nil, nil }))

	instanceNetworkPlugin = host.NewPlugin(named("wasi:sockets/instance-network"), networkResource.Used(),
		host.Func0("instance-network", func(context.Context) (host.Own[*network], error) {
			return host.Own[*network]{Value: &network{}}, nil
		}))

	createTCPPlugin = host.NewPlugin(named("wasi:sockets/tcp-create-socket"), tcpResource.Used(),
		host.Func1("create-tcp-socket", denied[addressFamily, host.Own[*tcpSocket]]))

	createUDPPlugin = host.NewPlugin(named("wasi:sockets/udp-create-socket"), udpResource.Used(),
		host.Func1("create-udp-socket", denied[addressFamily, host.Own[*udpSocket]]))
)

func denied[A, R any](context.Context, A) (socketResult[R], error) {
	return host.Fail[R](socketAccessDenied), nil
}

var (
	addressStreamResource = host.NewResource[*addressStream]("resolve-address-stream", nil)

	nameLookupPlugin = host.NewPlugin(named("wasi:sockets/ip-name-lookup"),
		addressStreamResource, networkResource.Used(), pollableResource.Used(),
		host.Func2("resolve-addresses", func(context.Context, borrowNetwork, string) (socketResult[host.Own[*addressStream]], error) {
			return host.Fail[host.Own[*addressStream]](socketAccessDenied), nil
		}),
		refuse1[host.Borrow[*addressStream], socketResult[*ipAddress]]("[method]resolve-address-stream.resolve-next-address"),
		refuse1[host.Borrow[*addressStream], ownPollable]("[method]resolve-address-stream.subscribe"),
	)
)

// onTCP0 and onTCP1 are methods of a TCP socket, as those below of a UDP socket.
func onTCP0[R any](name string) host.Item {
	return refuse1[host.Borrow[*tcpSocket], R]("[method]tcp-socket." + name)
}

func onTCP1[A, R any](name string) host.Item {
	return refuse2[host.Borrow[*tcpSocket], A, R]("[method]tcp-socket." + name)
}

var (
	tcpResource = host.NewResource[*tcpSocket]("tcp-socket", nil)

	tcpPlugin = host.NewPlugin(named("wasi:sockets/tcp"),
		tcpResource, networkResource.Used(), inputResource.Used(), outputResource.Used(), pollableResource.Used(),
		refuse3[host.Borrow[*tcpSocket], borrowNetwork, socketAddress, socketDone]("[method]tcp-socket.start-bind"),
		onTCP0[socketDone]("finish-bind"),
		refuse3[host.Borrow[*tcpSocket], borrowNetwork, socketAddress, socketDone]("[method]tcp-socket.start-connect"),
		onTCP0[socketResult[tcpStreams]]("finish-connect"),
		onTCP0[socketDone]("start-listen"),
		onTCP0[socketDone]("finish-listen"),
		onTCP0[socketResult[tcpAccepted]]("accept"),
		onTCP0[socketResult[socketAddress]]("local-address"),
		onTCP0[socketResult[socketAddress]]("remote-address"),
		onTCP0[bool]("is-listening"),
		onTCP0[addressFamily]("address-family"),
		onTCP1[uint64, socketDone]("set-listen-backlog-size"),
		onTCP0[socketResult[bool]]("keep-alive-enabled"),
		onTCP1[bool, socketDone]("set-keep-alive-enabled"),
		onTCP0[socketResult[uint64]]("keep-alive-idle-time"),
		onTCP1[uint64, socketDone]("set-keep-alive-idle-time"),
		onTCP0[socketResult[uint64]]("keep-alive-interval"),
		onTCP1[uint64, socketDone]("set-keep-alive-interval"),
		onTCP0[socketResult[uint32]]("keep-alive-count"),
		onTCP1[uint32, socketDone]("set-keep-alive-count"),
		onTCP0[socketResult[uint8]]("hop-limit"),
		onTCP1[uint8, socketDone]("set-hop-limit"),
		onTCP0[socketResult[uint64]]("receive-buffer-size"),
		onTCP1[uint64, socketDone]("set-receive-buffer-size"),
		onTCP0[socketResult[uint64]]("send-buffer-size"),
		onTCP1[uint64, socketDone]("set-send-buffer-size"),
		onTCP0[ownPollable]("subscribe"),
		onTCP1[shutdownType, socketDone]("shutdown"),
	)
)

func onUDP0[R any](name string) host.Item {
	return refuse1[host.Borrow[*udpSocket], R]("[method]udp-socket." + name)
}

func onUDP1[A, R any](name string) host.Item {
	return refuse2[host.Borrow[*udpSocket], A, R]("[method]udp-socket." + name)
}

var (
	udpResource            = host.NewResource[*udpSocket]("udp-socket", nil)
	datagramInputResource  = host.NewResource[*datagramInput]("incoming-datagram-stream", nil)
	datagramOutputResource = host.NewResource[*datagramOutput]("outgoing-datagram-stream", nil)

	udpPlugin = host.NewPlugin(named("wasi:sockets/udp"),
		udpResource, datagramInputResource, datagramOutputResource, networkResource.Used(), pollableResource.Used(),
		refuse3[host.Borrow[*udpSocket], borrowNetwork, socketAddress, socketDone]("[method]udp-socket.start-bind"),
		onUDP0[socketDone]("finish-bind"),
		onUDP1[*socketAddress, socketResult[udpStreams]]("stream"),
		onUDP0[socketResult[socketAddress]]("local-address"),
		onUDP0[socketResult[socketAddress]]("remote-address"),
		onUDP0[addressFamily]("address-family"),
		onUDP0[socketResult[uint8]]("unicast-hop-limit"),
		onUDP1[uint8, socketDone]("set-unicast-hop-limit"),
		onUDP0[socketResult[uint64]]("receive-buffer-size"),
		onUDP1[uint64, socketDone]("set-receive-buffer-size"),
		onUDP0[socketResult[uint64]]("send-buffer-size"),
		onUDP1[uint64, socketDone]("set-send-buffer-size"),
		onUDP0[ownPollable]("subscribe"),
		refuse2[host.Borrow[*datagramInput], uint64, socketResult[[]incomingDatagram]]("[method]incoming-datagram-stream.receive"),
		refuse1[host.Borrow[*datagramInput], ownPollable]("[method]incoming-datagram-stream.subscribe"),
		refuse1[host.Borrow[*datagramOutput], socketResult[uint64]]("[method]outgoing-datagram-stream.check-send"),
		refuse2[host.Borrow[*datagramOutput], []outgoingDatagram, socketResult[uint64]]("[method]outgoing-datagram-stream.send"),
		refuse1[host.Borrow[*datagramOutput], ownPollable]("[method]outgoing-datagram-stream.subscribe"),
	)
)
