#!/bin/sh
# Installs the provider CLIs that e2e/package.json pins into e2e/node_modules,
# for the end-to-end tests. Does nothing when they are there in the versions of
# the lock file. Without npm it says so and gives up: a failure only in CI.
set -eu

cd "$(dirname "$0")/../e2e"
installed=node_modules/.installed-lock.json

# The copy of the lock is written last, so that a broken installation is redone.
if [ -x node_modules/.bin/claude ] && cmp -s package-lock.json "$installed"; then
	exit 0
fi

if ! command -v npm >/dev/null 2>&1; then
	echo "install-clis: npm not found: the tests with real CLIs cannot run" >&2
	if [ "${CI:-}" = true ]; then
		exit 1
	fi
	exit 0
fi

# The CLIs' own install scripts put the native binaries in place.
npm ci --ignore-scripts=false --loglevel=error --no-audit --no-fund >/dev/null
if ! node_modules/.bin/claude --version >/dev/null; then
	echo "install-clis: claude was installed but does not start" >&2
	exit 1
fi
cp package-lock.json "$installed"
