#!/bin/sh
# Installs four of Debian's tools in CI: strace, with which single calls of the
# kernel are made to fail, systemd-analyze, which judges the unit of cw's service,
# tmux, the terminal in which the board is driven, and nginx, through which streams
# are read. Elsewhere the tests that want them skip by name.
set -eu

[ "${CI:-}" = true ] || exit 0
missing=""
command -v strace >/dev/null 2>&1 || missing="strace"
command -v systemd-analyze >/dev/null 2>&1 || missing="$missing systemd"
command -v tmux >/dev/null 2>&1 || missing="$missing tmux"
command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ] || missing="$missing nginx-light"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "install-tools:$missing cannot be installed here" >&2
	exit 1
fi
apt-get update -qq >/dev/null
# shellcheck disable=SC2086 # each word is a package
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
