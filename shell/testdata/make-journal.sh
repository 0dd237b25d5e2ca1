#!/usr/bin/env bash
# Makes a real systemd journal in the folder $1 from lines "field|unit|unix seconds|message" on standard input, where
# field is _SYSTEMD_UNIT or _SYSTEMD_USER_UNIT, and the message may have the escapes of printf's %b. No systemd needs to
# run; its programs are unpacked from Debian packages below ~/.cache/toold/journal where the machine lacks them, and
# the folder of journalctl is printed.
set -euo pipefail
export LC_ALL=C
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/toold/journal
libraries=$cache/usr/lib/$(uname -m)-linux-gnu
mkdir -p "$cache" "$1"

unpack() {
	command -v apt-get >/dev/null || { echo "make-journal: no $* and no apt-get to get it with" >&2; exit 3; }
	local debs
	debs=$(mktemp -d)
	chmod 755 "$debs"
	(cd "$debs" && { apt-get -qq download "$@" || { apt-get -qq update && apt-get -qq download "$@"; }; }) >&2
	for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$cache"; done
	rm -r "$debs"
}

exec 8>"$cache.lock"
flock 8
remote=
find_remote() {
	for remote in {"$cache",}/{usr/lib,lib}/systemd/systemd-journal-remote; do [ ! -x "$remote" ] || return 0; done
	return 1
}
find_remote || { unpack systemd-journal-remote; find_remote; }
if LD_LIBRARY_PATH=$libraries ldd "$remote" | grep -q 'libmicrohttpd.*not found'; then unpack libmicrohttpd12; fi
journalctl=$(command -v journalctl || true)
if [ -z "$journalctl" ]; then
	[ -x "$cache/bin/journalctl" ] || unpack systemd
	journalctl=$cache/bin/journalctl
fi
exec 8>&-
# a systemd that was unpacked keeps its own library elsewhere
shared=$(dirname "$(find "$cache" /usr/lib /lib -name 'libsystemd-shared-*.so' -print -quit 2>/dev/null)")

n=0
while IFS='|' read -r field unit seconds message; do
	n=$((n + 1))
	text=$(printf '%bx' "$message")
	text=${text%x}
	time=$((seconds * 1000000 + n))
	printf '__CURSOR=c%d\n__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n' "$n" "$time" "$time"
	printf '_BOOT_ID=0123456789abcdef0123456789abcdef\n_MACHINE_ID=0123456789abcdef0123456789abcdef\n_HOSTNAME=machine\n_TRANSPORT=journal\n'
	printf '%s=%s\nPRIORITY=6\nSYSLOG_IDENTIFIER=%s\n_PID=%d\n_UID=%d\n' "$field" "$unit" "${unit%.service}" $((100 + n)) "$(id -u)"
	# the form for any bytes: the name, the length in eight bytes, the bytes
	printf 'MESSAGE\n'
	for shift in 0 8 16 24 32 40 48 56; do printf "\\x$(printf %02x $(((${#text} >> shift) & 255)))"; done
	printf '%s\n\n' "$text"
done | LD_LIBRARY_PATH=$libraries:$shared "$remote" --output="$1/test.journal" --split-mode=none --compress=no --seal=no - >&2
dirname "$journalctl"
