#!/bin/bash
# Prints a regular expression for go test -run that matches two thirds of the tests in
# the folders, drawn, or with CW_LONG all of them. CW_DRAW_SEED repeats a draw.
#   draw-tests.sh FOLDER...
set -euo pipefail
cd "$(dirname "$0")/.."
seed=${CW_DRAW_SEED:-$RANDOM}
echo "two thirds of the tests are drawn: CW_DRAW_SEED=$seed (CW_LONG=1 runs all)" >&2
for folder; do
	grep -hoE '^func Test[A-Za-z0-9_]+' "$folder"/*_test.go
done | cut -d' ' -f2 | grep -vx TestMain | sort -u |
	awk -v all="${CW_LONG:-}" -v seed="$seed" 'BEGIN { srand(seed) } all != "" || rand() < 2 / 3' |
	paste -s -d '|' - | sed -e 's/^/^(Fuzz.*|Example.*|/' -e 's/$/)$/'
