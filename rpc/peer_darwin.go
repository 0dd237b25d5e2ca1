package rpc

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// peerOf gives the process at the other end; another user's is an error.
func peerOf(conn net.Conn) (Peer, error) {
	var p Peer
	err := rawConn(conn, func(fd int) error {
		c, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err != nil {
			return err
		}
		p.UID, p.GID = int(c.Uid), int(c.Groups[0])
		p.PID, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	})
	if err == nil && p.UID != os.Getuid() {
		err = fmt.Errorf("the process %d belongs to the user %d, not to %d", p.PID, p.UID, os.Getuid())
	}
	return p, err
}

// awaitHangup returns at once: here a client that has closed its sending half counts as gone.
func awaitHangup(net.Conn) {}
