// Package providers holds what differs between the CLIs of coding agents, as
// data: one preset per provider, embedded or from a file of the user. From a
// preset and an invocation come argv and environment of a run, from a version
// probe's output a judgement, from the stderr of a run that failed its kind.
//
// Parsing a CLI's output is in providers/parsers. Everything here but loading
// and finding files is a pure function of its arguments: it must not know
// processes (it starts none), the database, git, or which agent it is for.
package providers
