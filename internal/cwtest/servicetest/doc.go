// Package servicetest holds what every implementation of cw.Services must do:
// a conformance suite, Exercise, and Memory, a small honest implementation of
// it without processes, git or files, for tests of what stands before the
// services.
//
// It is for tests only.
package servicetest
