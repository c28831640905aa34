// Package cw is the language of the program: the nouns (project, agent, run,
// message, chunk, question, event, …) with their ids, statuses and legal
// transitions, the errors that people see, and the service interfaces which
// the engine implements in the daemon and the API client implements for the
// command line.
//
// It must not know how anything is done: no database, no HTTP, no git, no
// processes, no files. It imports nothing of this module.
//
// One noun, one file, always in the same order: limits, type, pure methods,
// service interface.
package cw
