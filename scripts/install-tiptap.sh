#!/bin/sh
# Installs the editor that e2e/tiptap/package.json pins into its node_modules:
# the documents of pages are checked with its schema. Does nothing when it is
# there in the version of the lock file. Without npm it says so and gives up: a
# failure only in CI. It needs 14 MB.
set -eu

cd "$(dirname "$0")/../e2e/tiptap"
installed=node_modules/.installed-lock.json

# The copy of the lock is written last, so that a broken installation is redone.
if cmp -s package-lock.json "$installed"; then
	exit 0
fi

if ! command -v npm >/dev/null 2>&1; then
	echo "install-tiptap: npm not found: documents cannot be checked with the editor" >&2
	if [ "${CI:-}" = true ]; then
		exit 1
	fi
	exit 0
fi

npm ci --loglevel=error --no-audit --no-fund >/dev/null
if ! said=$(echo '{"type":"doc","content":[{"type":"paragraph"}]}' | node check.mjs 2>&1) || [ "$said" != ok ]; then
	echo "install-tiptap: the editor was installed but does not start: $said" >&2
	exit 1
fi
cp package-lock.json "$installed"
