#!/bin/sh
# An agent of the demo gets its work back: somebody else changed the same lines.
set -eu
branch=$(git for-each-ref --format='%(refname:short)' 'refs/heads/cw/*' | head -n 1)
echo "My work conflicts with what is on $branch; I merge it and keep both sides."
git merge -q "$branch" > /dev/null 2>&1 || true
for file in $(git diff --name-only --diff-filter=U); do
	sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' "$file" > "$file.both"
	mv "$file.both" "$file"
	git add "$file"
	echo "$file holds both now."
done
git commit -q --no-edit
mkdir -p .cw/output
printf '{"status":"done","result":"Both changes are in."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
