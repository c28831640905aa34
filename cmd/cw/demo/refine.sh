#!/bin/sh
# An architect of the demo: says on the page when the goal is reached.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.4 2>/dev/null || sleep 1; }

mkdir -p .cw/output/pages
for page in .cw/input/pages/*.md; do
	name=$(basename "$page")
	echo "The page $name does not say when the goal is reached."
	pause
	cp "$page" ".cw/output/pages/$name"
	cat >> ".cw/output/pages/$name" <<'PAGE'

## Done when

- `sh greet.sh Ada Grace` greets both, a line each
- `sh greet.sh` greets the world, as it does today
- a test and a page say so
PAGE
done
pause
echo "The page says when the goal is reached." > .cw/output/SUMMARY.md
printf '{"status":"done","result":"The page says when the goal is reached."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
