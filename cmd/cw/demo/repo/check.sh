#!/bin/sh
# What must hold before anything is merged.
[ "$(sh greet.sh)" = "Hello, world!" ] || {
	echo "greet.sh without a name says '$(sh greet.sh)', want 'Hello, world!'"
	exit 1
}
[ ! -f test/greet_test.sh ] || sh test/greet_test.sh
