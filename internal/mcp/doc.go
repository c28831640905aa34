// Package mcp is the tool server of an agent: the tools that an agent's CLI is
// offered, over stdio, in the Model Context Protocol.
//
// Which tools those are the daemon says (cw.ToolService), by the rights of the
// run; what they do it does, by the same services that commands use. Whatever
// goes wrong in a call is an answer that the model can read and mend: an error
// envelope, never a broken session.
package mcp
