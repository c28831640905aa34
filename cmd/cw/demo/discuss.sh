#!/bin/sh
# An architect of the demo: discusses the goal, and writes down what is decided.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.4 2>/dev/null || sleep 1; }

echo "The goal: $(sed -n '$p' .cw/input/initiative.md)"
line=$(grep -n printf greet.sh | cut -d: -f1)
pause
echo "greet.sh:$line takes one name and ignores the others."
id=$(cw id)
mkdir -p .cw/output/decisions
cat > ".cw/output/decisions/$id.md" <<EOF
---
id: $id
title: Each name is an argument of its own
---
\`greet.sh:$line\` reads \`\$1\` only, and greets the world without one. Names as arguments keep what is called today; a list with commas would change what a comma in a name means.
EOF
pause
echo "I read greet.sh and README.md; nothing is open." > .cw/output/SUMMARY.md
printf '{"status":"done","result":"Each name is an argument of its own: greet.sh:%s reads one already."}\n' "$line" > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
