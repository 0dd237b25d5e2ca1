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
		c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err == nil {
			p = Peer{UID: int(c.Uid), GID: int(c.Gid), PID: int(c.Pid)}
		}
		return err
	})
	if err == nil && p.UID != os.Getuid() {
		err = fmt.Errorf("the process %d belongs to the user %d, not to %d", p.PID, p.UID, os.Getuid())
	}
	return p, err
}

// awaitHangup waits until the other end has closed the connection altogether, not just its sending half, or the read
// deadline passes.
func awaitHangup(conn net.Conn) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0) // reports a hang-up unasked
		return err != nil && err != unix.EINTR || n > 0 && fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0
	})
}
