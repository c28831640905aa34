// Package bench measures what the documents promise about speed: each figure
// beside its floor in the same run, several times in turn, as a ratio. The
// floor is what the same work costs at best: git itself, a bare program, the
// same path without a database.
//
// Its tests run every row once at a tiny size and check what must hold at any
// speed, such as that every byte is stored; they never look at a time. With
// -full the rows are measured and docs/performance.md is written.
package bench
