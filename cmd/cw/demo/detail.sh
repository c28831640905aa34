#!/bin/sh
# An architect of the demo: cuts the phase into tasks that touch different files.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.4 2>/dev/null || sleep 1; }

phase=$(sed -n 's/^id: *//p' .cw/input/phase.md | tr -d '"')
echo "The phase: $(sed -n 's/^title: *//p' .cw/input/phase.md)"
pause
mkdir -p .cw/output/tasks
task() { # ID TITLE PATHS CHECK BODY
	cat > ".cw/output/tasks/$1.md" <<TASK
---
id: $1
title: $2
phase: $phase
type: auto
size: small
priority: medium
depends_on: []
paths: [$3]
checks: ["$4"]
---
$5
TASK
	echo "A task: $2"
}
set -- $(cw id -n 3 | sort) # tasks that do not depend on each other are in the order of their ids
task "$1" "Let greet.sh greet several people at once" '"greet.sh"' "sh greet.sh Ada Grace prints two lines" \
	'Loop over the arguments in `greet.sh`; without any it greets the world.'
pause
task "$2" "Write a test for greet.sh" '"test/**", "README.md"' "sh test/greet_test.sh passes" \
	'Put it into `test/greet_test.sh`, and say in `README.md` how it is run.'
pause
task "$3" "Document how to use greet.sh" '"docs/**"' "every example in docs/usage.md was tried" \
	'Describe `greet.sh` in `docs/usage.md`, with examples that were tried.'
echo "Three tasks that touch different files: they can be done side by side." > .cw/output/SUMMARY.md
printf '{"status":"done","result":"Three tasks that touch different files, so they can be done side by side."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
