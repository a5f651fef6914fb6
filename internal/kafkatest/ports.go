package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// Ports come from below what systems deal to outgoing connections (32768 on Linux): a client that keeps
// dialling a killed node's port from that range will, sooner or later, be connected to itself.
const firstPort, lastPort = 20000, 27999

// reservePorts finds n ports that are free on loopback. The guards keep other test processes away from them while
// the nodes that own them are down: they occupy the same ports of 127.0.0.2, where the search looks too.
func reservePorts(n int) (ports []int, guards []net.Listener, err error) {
	for range 1000 {
		if len(ports) == n {
			return ports, guards, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		guard, free := tryPort(port)
		if !free {
			continue
		}
		ports = append(ports, port)
		if guard != nil {
			guards = append(guards, guard)
		}
	}
	closeAll(guards)
	return nil, nil, fmt.Errorf("find %d free ports between %d and %d", n, firstPort, lastPort)
}

func tryPort(port int) (guard net.Listener, free bool) {
	guard, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, false
	}
	if err != nil {
		guard = nil // no second loopback address on this system: then without the guard
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if guard != nil {
			guard.Close()
		}
		return nil, false
	}
	l.Close()
	return guard, true
}

func closeAll(ls []net.Listener) {
	for _, l := range ls {
		l.Close()
	}
}
