// Package frontmatter reads and writes Markdown with a head of YAML between two
// lines of "---".
//
// Reading trusts nothing: who wrote the text may be an agent. What it cannot
// read is an *Error with its line. Keys that nobody knows are kept, nested ones
// too, in the order in which they were written. Writing gives one text for the
// same content, whatever it was read from, so that two texts can be compared:
// Parse(Write(d)) is d again.
//
// The package must not know what the keys mean.
package frontmatter
