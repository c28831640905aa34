#!/bin/bash
# Runs the fuzz targets of a third of the packages that have some, drawn, or with
# CW_LONG all of them, for a while each, two side by side:
# fuzz.sh TIME
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-8s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export work time CGO_ENABLED=0
# What is not optimized is built in a third of the time, and no target uses the database.
plain=()
for module in sqlite libc memory; do plain+=("-gcflags=modernc.org/$module/...=-N -l"); done

# fuzz BINARY DIR TARGET runs one target with one worker.
fuzz() {
	local log="$work/$3.$RANDOM.log"
	if (cd "$2" && "$1" -test.run '^$' -test.fuzz "^$3\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x \
		-test.parallel 1 -test.fuzzcachedir "$work/cache/$2") >"$log" 2>&1; then
		echo "-- $2 $3: $(grep '^fuzz: elapsed' "$log" | tail -n 1)"
	elif ! grep -q -e 'Failing input' -e 'panic' -e '_test.go:' "$log" && grep -q '^    context deadline exceeded$' "$log"; then
		# Before Go 1.27 the fuzzer may report the end of its own time as a failure
		# (https://go.dev/issue/75804). That is told from a failing input by what it
		# says: no input was written, and nothing else is wrong.
		echo "-- $2 $3: its time ended in the middle of an input"
	else
		echo "-- $2 $3: FAILED"
		cat "$log"
		return 255 # xargs starts no more
	fi
}
export -f fuzz

# A line for each target: its package's instrumented test program, its folder,
# its name.
git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -l '^func Fuzz' | xargs -n 1 dirname | sort -u |
	awk -v all="${CW_LONG:-}" -v draw=$((RANDOM % 3)) 'all != "" || NR % 3 == draw' | while read -r dir; do
	binary="$work/${dir//\//_}.test"
	go test -c -vet=off "${plain[@]}" -fuzz . -o "$binary" "./$dir"
	sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$dir"/*_test.go | while read -r target; do
		echo "$binary $dir $target"
	done
done >"$work/targets"
xargs -P 2 -L 1 bash -c 'fuzz "$@"' fuzz <"$work/targets"
echo "$(wc -l <"$work/targets") fuzz targets ran for $time each"
