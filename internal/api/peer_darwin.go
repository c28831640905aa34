package api

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// peerOf asks the kernel who connected (LOCAL_PEERCRED and LOCAL_PEERPID).
func peerOf(conn *net.UnixConn) (Peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Peer{}, fmt.Errorf("look at the connection: %w", err)
	}
	var peer Peer
	var credErr, pidErr error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); credErr == nil {
			peer.UID = int(cred.Uid)
		}
		peer.PID, pidErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	if err := errors.Join(err, credErr, pidErr); err != nil {
		return Peer{}, fmt.Errorf("ask for the peer's credentials: %w", err)
	}
	return peer, nil
}
