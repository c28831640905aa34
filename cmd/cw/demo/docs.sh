#!/bin/sh
# An agent of the demo: documents greet.sh. It asks first, and goes on with the
# answer; it says in the README, too, what its task does not name.
set -eu
told=$(cat)
pause() { sleep 0.4 2>/dev/null || sleep 1; }
signal() {
	mkdir -p .cw/output
	printf '%s\n' "$1" > .cw/output/signal.tmp
	mv .cw/output/signal.tmp .cw/output/signal.json
}
case $told in
*"in short sentences"*) ;;
*)
	echo "I read the README and the script, and have a question."
	signal '{"status":"questions","questions":[{"id":"tone","header":"Tone","question":"How is the guide to be written?","options":[{"label":"in short sentences"},{"label":"in full detail"}]}]}'
	exit 0
	;;
esac
echo "In short sentences, then."
mkdir -p docs
cat > docs/usage.md <<'DOC'
# Using greet.sh

    sh greet.sh          # Hello, world!
    sh greet.sh Ada      # Hello, Ada!

Without a name it greets the world.
DOC
pause
printf '\nHow it is used stands in `docs/usage.md`.\n' >> README.md
git add docs/usage.md README.md
git commit -q -m "Document how to use greet.sh"
echo "Committed."
signal '{"status":"done","result":"docs/usage.md tells how to use greet.sh."}'
