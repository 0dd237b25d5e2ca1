package guard

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// identity is who the command runs as.
type identity struct {
	uid, gid uint32
	groups   []uint32
	name     string
	home     string
	same     bool // it is the guard's own user, and nothing is changed
}

// identify finds the request's user: the named one, or the owner of a folder, or the guard's own. The owner is looked
// up here, inside the container, because user namespaces show other numbers outside.
func identify(req Request) (identity, error) {
	var id identity
	switch {
	case req.User != "":
		var err error
		if id, err = named(req.User); err != nil {
			return id, err
		}
	case req.Owner != "":
		var st syscall.Stat_t
		if err := syscall.Stat(req.Owner, &st); err != nil {
			return id, &os.PathError{Op: "stat", Path: req.Owner, Err: err}
		}
		id = known(st.Uid, st.Gid)
	default:
		id = known(uint32(os.Getuid()), uint32(os.Getgid()))
	}
	id.same = id.uid == uint32(os.Getuid()) && id.gid == uint32(os.Getgid())
	return id, nil
}

// known completes an identity from the user database, where it is in there.
func known(uid, gid uint32) identity {
	id := identity{uid: uid, gid: gid, home: "/tmp"}
	if u, err := user.LookupId(strconv.Itoa(int(uid))); err == nil {
		id.fill(u)
	}
	return id
}

func (id *identity) fill(u *user.User) {
	id.name = u.Username
	if info, err := os.Stat(u.HomeDir); err == nil && info.IsDir() {
		id.home = u.HomeDir
	}
	groups, _ := u.GroupIds()
	for _, g := range groups {
		if n, err := strconv.ParseUint(g, 10, 32); err == nil {
			id.groups = append(id.groups, uint32(n))
		}
	}
}

// named understands "user[:group]" with names and numbers, as the engine does.
func named(spec string) (identity, error) {
	name, group, _ := strings.Cut(spec, ":")
	var id identity
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		id = known(uint32(n), 0)
		if u, err := user.LookupId(name); err == nil {
			id.gid = number(u.Gid)
		}
	} else {
		u, err := user.Lookup(name)
		if err != nil {
			return id, err
		}
		id = known(number(u.Uid), number(u.Gid))
	}
	if group == "" {
		return id, nil
	}
	if n, err := strconv.ParseUint(group, 10, 32); err == nil {
		id.gid = uint32(n)
		return id, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return id, err
	}
	id.gid = number(g.Gid)
	return id, nil
}

func number(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

func (id identity) credential() *syscall.Credential {
	if id.same {
		return nil
	}
	return &syscall.Credential{Uid: id.uid, Gid: id.gid, Groups: id.groups}
}

// environ is the container's environment with the variables that say who one is.
func (id identity) environ(env []string) []string {
	who := id.name
	if who == "" {
		who = fmt.Sprint(id.uid)
	}
	env = append(env, "USER="+who, "LOGNAME="+who)
	if id.same && os.Getenv("HOME") != "" {
		return env
	}
	return append(env, "HOME="+id.home)
}
