package cw

// ChildVariable is in the environment of what the daemon starts as a helper of its
// own, with the value ChildValue, such as git and the program of notifications. A
// process that was started with it is never taken for a person on the socket, also
// when its parents are gone.
const (
	ChildVariable = "CW_CHILD"
	ChildValue    = "1"
)
