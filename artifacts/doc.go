// Package artifacts is the form of the files that agents are given and leave:
// .cw/input and .cw/output, Markdown with a head of YAML. Input writes the one,
// ReadOutput reads the other, and the same functions give the file of a page, a
// phase, a task or a decision in both, so that what an agent reads is what it
// may write.
//
// Reading trusts nothing: an agent's files may be links, huge, half written or
// none of what they claim. One bad file never loses the good ones.
//
// The package must not know how the files come about or what becomes of them:
// no database, no events, no git.
package artifacts
