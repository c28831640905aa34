#!/bin/sh
# An architect of the demo: cuts the goal into phases. One is enough.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.4 2>/dev/null || sleep 1; }

echo "$(git ls-files | wc -l | tr -d ' ') files, one of them a program: one phase is enough."
pause
id=$(cw id)
mkdir -p .cw/output/phases
cat > ".cw/output/phases/$id.md" <<EOF
---
id: $id
title: Everybody who is named is greeted
depends_on: []
---
\`greet.sh\` takes any number of names; a test and a page go with it.

**Done when** \`sh greet.sh Ada Grace\` prints two lines, and the test passes.

**Touches** \`greet.sh\`, \`test/**\`, \`docs/**\`, \`README.md\`
EOF
pause
echo "One phase: its parts touch different files, so none has to wait." > .cw/output/SUMMARY.md
printf '{"status":"done","result":"One phase, since its parts touch different files."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
