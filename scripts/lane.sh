#!/bin/sh
# Runs one lane of the tests and tells how long it took beside its budget.
#   lane.sh NAME BUDGET_MINUTES COMMAND...
# Over budget is said, not failed: machines differ. The exit code is the
# command's.
set -u
name=$1 budget=$2
shift 2
echo "== lane $name (budget $budget min): $*"
start=$(date +%s)
"$@"
code=$?
seconds=$(($(date +%s) - start))
over=""
[ "$seconds" -le $((budget * 60)) ] || over=", OVER BUDGET"
echo "== lane $name: exit $code after $((seconds / 60)) min $((seconds % 60)) s of $budget min$over"
exit $code
