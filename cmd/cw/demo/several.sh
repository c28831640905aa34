#!/bin/sh
# An agent of the demo: lets greet.sh greet several people.
set -eu
assignment=$(cat)
pause() { sleep 0.6 2>/dev/null || sleep 1; }

echo "I have read my assignment, $(printf '%s\n' "$assignment" | wc -l | tr -d ' ') lines."
echo "I am in $(basename "$PWD"), on the branch $(git rev-parse --abbrev-ref HEAD)."
pause
echo "greet.sh greets one person; I make it greet everybody who is named."
cat > greet.sh <<'EOF'
#!/bin/sh
# Greets people: greet.sh [NAME...]
if [ $# -eq 0 ]; then
	set -- world
fi
for name in "$@"; do
	printf 'Hello, %s!\n' "$name"
done
EOF
pause
echo "Let me see whether it works:"
sh greet.sh Ada Grace
pause
git add greet.sh
git commit -q -m "Greet several people"
echo "Committed."
mkdir -p .cw/output
printf '{"status":"done","result":"greet.sh greets everybody who is named."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
