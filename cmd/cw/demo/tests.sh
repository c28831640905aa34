#!/bin/sh
# An agent of the demo: writes a test for greet.sh.
set -eu
cat > /dev/null # the assignment
pause() { sleep 0.5 2>/dev/null || sleep 1; }

echo "I look at what greet.sh does today."
sed -n 1,2p greet.sh
pause
echo "I write a test for the greeting, with and without a name."
mkdir -p test
cat > test/greet_test.sh <<'EOF'
#!/bin/sh
# Run it from the top of the repository: sh test/greet_test.sh
failed=0
check() { # WANT ARGS...
	want=$1
	shift
	got=$(sh greet.sh "$@")
	if [ "$got" != "$want" ]; then
		echo "greet.sh $*: got '$got', want '$want'"
		failed=1
	fi
}
check 'Hello, world!'
check 'Hello, Ada!' Ada
exit $failed
EOF
pause
echo "The test runs:"
sh test/greet_test.sh && echo "all checks passed"
pause
git add test/greet_test.sh
git commit -q -m "Test the greeting"
pause
echo "One commit for the README, so that others find the test."
printf '\nTest it with `sh test/greet_test.sh`.\n' >> README.md
git add README.md
git commit -q -m "Say how to run the test"
mkdir -p .cw/output
printf '{"status":"done","result":"greet.sh has a test, and it passes."}\n' > .cw/output/signal.tmp
mv .cw/output/signal.tmp .cw/output/signal.json
