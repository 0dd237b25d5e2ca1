#!/usr/bin/env bash
# Runs a private Docker engine in the folder $1 until standard input ends, for tests.
#
# It prints "ready unix://…" when the engine has its images, toold-test:busybox (a static busybox only) and
# toold-test:machine (empty but for links: mount the machine's /usr into it). Lines on standard input are orders:
# "start" starts the engine again after it was killed, and prints "ready …" again. The engine's process id is in
# $1/dockerd.pid.
#
# The engine has mount and network namespaces of its own and shares nothing with another engine of the machine.
# Programs that the machine lacks are unpacked from Debian packages below ~/.cache/toold/engine; nothing is installed.
# Exit codes: 1 failed, with the log's end on standard error; 3 this machine cannot run one.
set -euo pipefail
export LC_ALL=C
if [ "$(id -u)" != 0 ]; then
	sudo -n true 2>/dev/null || { echo "docker-engine: needs root, or sudo without a password" >&2; exit 3; }
	exec sudo -n -E TOOLD_ENGINE_GROUP="$(id -g)" bash "$0" "$@"
fi
dir=$(realpath -m -- "$1") socket=$dir/docker.sock log=$dir/dockerd.log
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/toold/engine
triplet=$(uname -m)-linux-gnu
programs=$cache/usr/sbin:$cache/usr/bin:$cache/sbin:$cache/bin
libraries=$cache/usr/lib/$triplet:$cache/lib/$triplet
cgroup=/toold-test-$$
mkdir -p "$dir" "$cache"
: >"$log"

give_up() { # CODE TEXT
	echo "docker-engine: $2" >&2
	[ ! -s "$log" ] || tail -n 15 "$log" >&2
	exit "$1"
}

find_program() { PATH=$PATH:/usr/sbin:/sbin:$programs command -v "$1"; }

# unpack PACKAGE...
unpack() {
	command -v apt-get >/dev/null || give_up 3 "no $* and no apt-get to get it with"
	local debs
	debs=$(mktemp -d)
	chmod 755 "$debs"
	(cd "$debs" && { apt-get -qq download "$@" || { apt-get -qq update && apt-get -qq download "$@"; }; }) >"$log" 2>&1 ||
		give_up 3 "cannot download $*"
	for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$cache"; done
	rm -r "$debs"
}

# Several packages' tests may begin at once on an empty cache.
prepare() {
	local missing=() library
	find_program dockerd >/dev/null || missing+=(docker.io)
	find_program containerd >/dev/null || missing+=(containerd)
	find_program runc >/dev/null || missing+=(runc)
	find_program docker-init >/dev/null || missing+=(tini docker.io)
	[ -n "$(static_busybox)" ] || missing+=(busybox-static)
	[ ${#missing[@]} = 0 ] || unpack "${missing[@]}"
	missing=()
	for library in $(LD_LIBRARY_PATH=$libraries ldd "$(find_program dockerd)" "$(find_program containerd)" "$(find_program runc)" 2>/dev/null | awk '/not found/ {print $1}' | sort -u); do
		case $library in
		libdevmapper.so.*) missing+=(libdevmapper1.02.1) ;;
		libseccomp.so.2) missing+=(libseccomp2) ;;
		libsystemd.so.0) missing+=(libsystemd0) ;;
		libselinux.so.1) missing+=(libselinux1) ;;
		libudev.so.1) missing+=(libudev1) ;;
		*) give_up 3 "the library $library is missing" ;;
		esac
	done
	[ ${#missing[@]} = 0 ] || unpack "${missing[@]}"
}

static_busybox() {
	local program
	for program in "$cache/bin/busybox" "$cache/usr/bin/busybox" "$(command -v busybox || true)"; do
		if [ -x "$program" ] && ! ldd "$program" >/dev/null 2>&1; then
			echo "$program"
			return
		fi
	done
}

answers() { curl -fsS --max-time 5 --unix-socket "$socket" http://engine/_ping >/dev/null 2>&1; }

start() {
	rm -rf "$dir/dockerd.pid" "$socket" "$dir/exec"
	local args=(--data-root="$dir/data" --exec-root="$dir/exec" --pidfile="$dir/dockerd.pid" --config-file="$dir/daemon.json"
		-H "unix://$socket" --group="${TOOLD_ENGINE_GROUP:-0}" --cgroup-parent="$cgroup" --exec-opt native.cgroupdriver=cgroupfs
		--iptables=false --ip6tables=false --ip-masq=false --ip-forward=false --userland-proxy=false --log-level=warn --shutdown-timeout=3)
	echo '{}' >"$dir/daemon.json"
	env -u DOCKER_HOST -u NOTIFY_SOCKET PATH="$PATH:/usr/sbin:/sbin:$programs" LD_LIBRARY_PATH="$libraries" \
		setsid unshare --mount --propagation slave --net -- /bin/sh -euc '
			mkdir -p /run/containerd /run/docker /etc/docker
			mount -t tmpfs tmpfs /run/containerd
			mount -t tmpfs tmpfs /run/docker
			mount -t tmpfs tmpfs /etc/docker
			ip link set lo up 2>/dev/null || true
			exec "$@"' engine "$(find_program dockerd)" "${args[@]}" </dev/null >>"$log" 2>&1 &
	local child=$!
	disown
	for _ in $(seq 300); do
		if answers; then return; fi
		kill -0 "$child" 2>/dev/null || give_up 1 "the engine ended before it answered"
		sleep 0.1
	done
	give_up 1 "the engine does not answer"
}

# import NAME FOLDER
import() {
	tar -C "$2" -c . | curl -fsS --max-time 60 --unix-socket "$socket" -X POST -H 'Content-Type: application/x-tar' -H 'Transfer-Encoding: chunked' \
		--data-binary @- "http://engine/images/create?fromSrc=-&repo=toold-test&tag=$1&changes=ENV%20PATH%3D%2Fusr%2Flocal%2Fsbin%3A%2Fusr%2Flocal%2Fbin%3A%2Fusr%2Fsbin%3A%2Fusr%2Fbin%3A%2Fsbin%3A%2Fbin" >>"$log" || give_up 1 "the image $1 cannot be imported"
}

images() {
	local root=$dir/image applet
	for name in busybox machine; do
		rm -rf "$root"
		mkdir -p "$root"/{etc,tmp,root,workspace,dev,proc,sys,var/tmp,run,home/agent}
		chmod 1777 "$root/tmp" "$root/var/tmp"
		chown 1000:1000 "$root/home/agent"
		printf 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n' >"$root/etc/passwd"
		printf 'root:x:0:\nagent:x:1000:\nextra:x:2000:agent\n' >"$root/etc/group"
		if [ $name = machine ]; then
			ln -s usr/bin usr/lib "$root"
			[ ! -e /usr/lib64 ] || ln -s usr/lib64 "$root"
			mkdir "$root/usr" "$root/sbin" # the engine puts its init into /sbin
		else
			mkdir -p "$root/bin" "$root/usr/bin"
			cp "$(static_busybox)" "$root/bin/busybox"
			for applet in $("$root/bin/busybox" --list); do [ "$applet" = busybox ] || ln -s busybox "$root/bin/$applet"; done
			ln -s /bin/env "$root/usr/bin/env"
		fi
		import $name "$root"
	done
	rm -rf "$root"
}

# children of the engine that a killed one left behind, by their cgroups and their containerd
leftovers() {
	local pid pids
	for _ in 1 2 3 4 5; do
		pids=$(cat $(find /sys/fs/cgroup -path "*$cgroup*" -name cgroup.procs 2>/dev/null) /dev/null | sort -u
			for pid in /proc/[0-9]*; do { tr '\0' '\n' <"$pid/cmdline"; } 2>/dev/null | grep -q "^$dir/exec/" && echo "${pid#/proc/}"; done || true)
		[ -n "$pids" ] || break
		# shellcheck disable=SC2086
		kill -KILL $pids 2>/dev/null || true
		sleep 0.1
	done
	awk -v d="$dir/" 'index($5, d) == 1 {print $5}' /proc/self/mountinfo | sort -r | while IFS= read -r mount; do umount -l "$mount" 2>/dev/null || true; done
	find /sys/fs/cgroup -depth -type d -path "*$cgroup*" -exec rmdir {} + 2>/dev/null || true
}

stop() {
	trap - EXIT
	local pid
	pid=$(cat "$dir/dockerd.pid" 2>/dev/null || true)
	if [ -n "$pid" ]; then
		kill -CONT "$pid" 2>/dev/null || true
		kill -KILL "$pid" 2>/dev/null || true
	fi
	leftovers
	rm -rf --one-file-system "$dir/data" "$dir/exec" "$socket" "$dir/image"
}

trap stop EXIT
exec 8>"$cache.lock"
flock 8
prepare
exec 8>&-
start
images
echo "ready unix://$socket"
while read -r order; do
	case $order in
	start)
		leftovers
		start
		echo "ready unix://$socket"
		;;
	esac
done
