// Package badinput holds the tests of what people and machines get wrong: bad
// repositories, goals, names, providers, homes, disks, databases, outputs and
// signals. They drive the real program through its command line. A refusal
// must say what is wrong and what to do, have the right exit code, and leave
// nothing behind; a run that took place must end with the truth in its row.
//
// It must not know how the program is built inside: only its commands, its
// exit codes, what it prints and which files it leaves.
package badinput
