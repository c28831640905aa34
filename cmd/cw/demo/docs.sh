#!/bin/sh
# An agent of the demo: documents greet.sh.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.7 2>/dev/null || sleep 1; }

echo "I read the README and the script."
pause
mkdir -p docs
cat > docs/usage.md <<'EOF'
# Using greet.sh

    sh greet.sh          # Hello, world!
    sh greet.sh Ada      # Hello, Ada!

Without a name it greets the world.
EOF
echo "I wrote docs/usage.md; every example in it is tried now."
sh greet.sh
sh greet.sh Ada
pause
git add docs/usage.md
git commit -q -m "Document how to use greet.sh"
echo "Committed."
mkdir -p .cw/output
printf '{"status":"done","result":"docs/usage.md tells how to use greet.sh."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
