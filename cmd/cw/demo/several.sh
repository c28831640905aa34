#!/bin/sh
# An agent of the demo: lets greet.sh greet several people. It forgets that
# greet.sh may be called without a name; the check will tell.
set -eu
pause() { sleep 0.4 2>/dev/null || sleep 1; }

echo "I am in $(basename "$PWD"), on the branch $(git rev-parse --abbrev-ref HEAD)."
pause
echo "greet.sh greets one person; I make it greet everybody who is named."
cat > greet.sh <<'GREET'
#!/bin/sh
# Greets people: greet.sh [NAME...]
for name in "$@"; do
	printf 'Hello, %s!\n' "$name"
done
GREET
sh greet.sh Ada Grace
pause
git add greet.sh
git commit -q -m "Greet several people"
mkdir -p .cw/output
printf '{"status":"done","result":"greet.sh greets everybody who is named."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
