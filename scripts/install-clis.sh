#!/bin/sh
# Installs the npm programs that the package.json files in e2e pin: into
# e2e/node_modules the provider CLIs of the end-to-end tests and the linter of
# docs/openapi.json, and into e2e/newest/node_modules the newest versions of those
# CLIs of which an older one is pinned. Does nothing when they are there in the
# versions of the lock files. Without npm it says so and gives up: a failure only in
# CI. They need 3 GB, mostly native programs; of each npm takes the one for this
# platform.
set -eu

cd "$(dirname "$0")/../e2e"
installed=node_modules/.installed-lock.json

# present PROGRAM...: all are there.
present() {
	for program; do
		[ -x "node_modules/.bin/$program" ] || return 1
	done
}

# install FOLDER PROGRAM...: they are there in the versions of its lock file.
install() (
	cd "$1"
	shift
	# The copy of the lock is written last, so that a broken installation is redone.
	if present "$@" && cmp -s package-lock.json "$installed"; then
		exit 0
	fi

	if ! command -v npm >/dev/null 2>&1; then
		echo "install-clis: npm not found: the tests with real CLIs cannot run" >&2
		if [ "${CI:-}" = true ]; then
			exit 1
		fi
		exit 0
	fi

	# The CLIs' own install scripts put the native binaries in place. It is not npm
	# ci: that refuses a lock file without the native packages of platforms that the
	# registry at hand does not have. Versions and sums are those of the lock all the
	# same, and it is left as it is.
	rm -rf node_modules
	npm install --no-save --ignore-scripts=false --loglevel=error --no-audit --no-fund >/dev/null
	home=$PWD/node_modules/.home
	mkdir -p "$home"
	for program; do
		# Some make themselves a home at any start, and one fails without it. qwen
		# needs the Node that is pinned with it, gemini takes it as well.
		if ! said=$(HOME="$home" PATH="$PWD/node_modules/.bin:$PATH" "node_modules/.bin/$program" --version 2>&1); then
			echo "install-clis: $program was installed but does not start: $said" >&2
			exit 1
		fi
	done
	cp package-lock.json "$installed"
)

install . claude codex opencode gemini qwen copilot cline cn redocly
install newest claude codex
