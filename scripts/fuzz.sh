#!/bin/sh
# Runs every fuzz target of the module for a while each: fuzz.sh TIME
set -eu
cd "$(dirname "$0")/.."
time=${1:-8s}
count=0
for file in $(git ls-files --cached --others --exclude-standard '*_test.go'); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		dir=$(dirname "$file")
		echo "-- $dir $target"
		CGO_ENABLED=0 go test "./$dir" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10x
		count=$((count + 1))
	done
done
echo "$count fuzz targets ran for $time each"
