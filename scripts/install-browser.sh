#!/bin/sh
# Installs Debian's chromium, for the tests that open pages in a real browser.
# Does nothing when a browser is there. Where it cannot install one it says so
# and gives up: a failure only in CI.
set -eu

for name in chromium chromium-browser google-chrome google-chrome-stable; do
	if command -v "$name" >/dev/null 2>&1; then
		exit 0
	fi
done

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	if apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; then
		exit 0
	fi
	echo "install-browser: apt-get could not install chromium: the tests in a real browser cannot run" >&2
else
	echo "install-browser: chromium not found: the tests in a real browser cannot run" >&2
fi
if [ "${CI:-}" = true ]; then
	exit 1
fi
