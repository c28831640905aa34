#!/bin/sh
# The agent that does a task of the demo: which one says its input. What it is
# told tells whether it begins, was answered, or gets its work back.
set -eu
here=$(dirname "$0")
told=$(cat)
title=$(sed -n 's/^title: *//p' .cw/input/task.md | tr -d '"')
case $told in
*"but it conflicts with"*) exec sh "$here/resolve.sh" ;;
*"but the check"*) exec sh "$here/mend.sh" ;;
esac
case $title in
*several*) exec sh "$here/several.sh" ;;
*test*) exec sh "$here/tests.sh" ;;
*) printf '%s\n' "$told" | exec sh "$here/docs.sh" ;;
esac
