package fakecli

import (
	"io"
	"net"
	"os"
)

// openDoor listens on a socket and joins each connection with one to the daemon.
// The daemon sees the run calling, and the run's own token opens it, too. It is
// open until the process ends.
func openDoor(path, daemon string) error {
	listener, err := net.Listen("unix", path+".new")
	if err != nil {
		return err
	}
	go func() {
		for {
			caller, err := listener.Accept()
			if err != nil {
				return
			}
			go join(caller, daemon)
		}
	}()
	return os.Rename(path+".new", path) // whoever sees it can connect
}

// join carries bytes both ways until either side ends.
func join(caller net.Conn, daemon string) {
	defer caller.Close()
	far, err := net.Dial("unix", daemon)
	if err != nil {
		return
	}
	defer far.Close()
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // either end may break at any moment
		done <- struct{}{}
	}
	go carry(far, caller)
	go carry(caller, far)
	<-done
}
