#!/bin/sh
# An agent of the demo gets its work back: a check failed at the merged commit.
set -eu
echo "The check says that nobody is greeted any more when no name is given."
cat > greet.sh <<'GREET'
#!/bin/sh
# Greets people: greet.sh [NAME...]
if [ $# -eq 0 ]; then
	set -- world
fi
for name in "$@"; do
	printf 'Hello, %s!\n' "$name"
done
GREET
sh check.sh && echo "The check passes."
git add greet.sh
git commit -q -m "Greet the world when nobody is named"
mkdir -p .cw/output
printf '{"status":"done","result":"greet.sh greets everybody who is named, and the world without a name."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
