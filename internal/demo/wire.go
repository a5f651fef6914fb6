package demo

import "net"

type wire struct{}

func newWire() *wire { return &wire{} }

func (w *wire) listen(network, address string) (net.Listener, error) {
	return net.Listen(network, address)
}
