package fakecli

import (
	"io"
	"net"
)

// proxy lets others call the socket to through the socket at, for as long as the
// process lives: the daemon takes them for this run, whose process it sees.
func proxy(at, to string) error {
	listener, err := net.Listen("unix", at)
	if err != nil {
		return err
	}
	go func() { // until the process ends
		for {
			caller, err := listener.Accept()
			if err != nil {
				return
			}
			go carry(caller, to)
		}
	}()
	return nil
}

func carry(caller net.Conn, to string) {
	defer caller.Close()
	daemon, err := net.Dial("unix", to)
	if err != nil {
		return
	}
	defer daemon.Close()
	over := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // either end may go
		over <- struct{}{}
	}
	go pass(daemon, caller)
	go pass(caller, daemon)
	<-over
}
