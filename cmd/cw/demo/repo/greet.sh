#!/bin/sh
# Greets somebody: greet.sh [NAME]
printf 'Hello, %s!\n' "${1:-world}"
