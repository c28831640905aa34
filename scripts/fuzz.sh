#!/bin/sh
# Runs every fuzz target of the module for a while each: fuzz.sh TIME
set -eu
cd "$(dirname "$0")/.."
time=${1:-8s}
count=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Before Go 1.27 the fuzzer may report the end of its own time as a failure
# (https://go.dev/issue/75804). That is told from a failing input by what it
# says: no input was written, and nothing else is wrong.
only_out_of_time() {
	! grep -q -e 'Failing input' -e 'panic' -e '_test.go:' "$log" && grep -q '^    context deadline exceeded$' "$log"
}

for file in $(git ls-files --cached --others --exclude-standard '*_test.go'); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		dir=$(dirname "$file")
		echo "-- $dir $target"
		if CGO_ENABLED=0 go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x >"$log" 2>&1; then
			tail -n 1 "$log"
		elif only_out_of_time; then
			echo "ok: the fuzzer's time ended in the middle of an input"
		else
			cat "$log"
			exit 1
		fi
		count=$((count + 1))
	done
done
echo "$count fuzz targets ran for $time each"
