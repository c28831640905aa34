#!/bin/sh
# Installs what web/package.json pins into web/node_modules: the dashboard's
# build and its tests. Does nothing when it is there in the versions of the lock
# file. Without npm it says so and gives up: a failure only in CI.
set -eu

cd "$(dirname "$0")/../web"
installed=node_modules/.installed-lock.json

# The copy of the lock is written last, so that a broken installation is redone.
if cmp -s package-lock.json "$installed"; then
	exit 0
fi

if ! command -v npm >/dev/null 2>&1; then
	echo "install-web: npm not found: the dashboard cannot be built or tested" >&2
	if [ "${CI:-}" = true ]; then
		exit 1
	fi
	exit 0
fi

# A lock file that names where packages came from would send everybody there.
if grep -q '"resolved": "http' package-lock.json; then
	echo "install-web: web/package-lock.json names a registry: npm config set omit-lockfile-registry-resolved true, and make it anew" >&2
	exit 1
fi
npm ci --loglevel=error --no-audit --no-fund >/dev/null
cp package-lock.json "$installed"
