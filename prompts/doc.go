// Package prompts renders what an agent is told when it starts: one text made
// of blocks, each between a pair of XML tags, with Markdown inside.
//
// What a block says is a template file: templates/shared/<tag>.md when all
// modes may use it, templates/<mode>/<tag>.md when it belongs to one. Which
// blocks a mode has, and in which order, is a table of rows: execute.go for
// execute. A new block is a row and a file; a new mode is a table.
//
// A block whose template renders to nothing is left out, tag and all. That is
// how a block depends on what there is: on a task, a project, a command.
//
// What people and repositories wrote (the task, paths, names) is data. It
// reaches a template only through the types text and inline, which keep it from
// closing or opening a block: escape.go.
//
// The package must not know how a prompt reaches an agent or which provider
// reads it, and it touches no file outside its own embedded ones.
package prompts
