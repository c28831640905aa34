#!/bin/bash
# Tests the dashboard: its types, its style, its parts, that web/dist is its
# build and how heavy that is, and then all of it in a real browser against the
# real daemon. Each step tells its seconds; all of them run, whatever fails.
#   web.sh [STEP...]    only these
set -u
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
red="" wanted="$*"

# lacks NAME WHY: what cannot run here is skipped by name, and fails in CI.
lacks() {
	if [ "${CI:-}" = true ]; then
		echo "-- web $1: FAILED: $2"
		red="$red $1"
	else
		echo "-- web $1: skipped: $2"
	fi
}

# step NAME COMMAND...
step() {
	local name=$1 start end
	shift
	case " ${wanted:-$name} " in *" $name "*) ;; *) return 0 ;; esac
	start=$(date +%s%N)
	"$@" >"$work/log" 2>&1
	local code=$?
	end=$(date +%s%N)
	local took
	took=$(awk "BEGIN { printf \"%.1f\", ($end - $start) / 1e9 }")
	if [ $code = 0 ]; then
		echo "-- web $name: ok, $took s"
		case $name in weight | e2e) grep -E '^(first load|load|figures|  )' "$work/log" || true ;; esac
	else
		echo "-- web $name: FAILED, $took s"
		cat "$work/log"
		red="$red $name"
	fi
	return 0
}

# current: the types that pages use are those of the API's description.
current() {
	npx --no-install openapi-typescript ../docs/openapi.json -o "$work/schema.d.ts" && diff -u src/api/schema.d.ts "$work/schema.d.ts"
}

# same: what is committed, and embedded into cw, is what the source builds.
same() {
	npx --no-install vite build --outDir "$work/dist" --emptyOutDir && diff -r dist "$work/dist"
}

browser() {
	for name in chromium chromium-browser google-chrome google-chrome-stable; do
		command -v "$name" >/dev/null && return 0
	done
	return 1
}

e2e() {
	local programs=("CW_BINARY=$work/cw" "CW_WEBLAB=$work/weblab")
	(cd "$root" && CGO_ENABLED=0 go build -o "$work/cw" ./cmd/cw && CGO_ENABLED=0 go build -o "$work/weblab" ./internal/cwtest/weblab) &&
		env "${programs[@]}" NO_COLOR=1 npx --no-install vitest run -c vitest.e2e.config.ts
}

sh scripts/install-web.sh || { echo "-- web install: FAILED"; exit 1; }
cd web || exit 1
if ! command -v node >/dev/null || [ ! -d node_modules ]; then
	lacks all "node and npm are not installed"
else
	step types current
	step tsc npx --no-install tsc --noEmit
	step eslint npx --no-install eslint .
	step unit npx --no-install vitest run
	step build same
	step weight node ../scripts/web-weight.mjs dist
	if browser; then
		step e2e e2e
	else
		lacks e2e "no chromium is installed: scripts/install-browser.sh"
	fi
fi
[ -z "$red" ] || { echo "red:$red"; exit 1; }
