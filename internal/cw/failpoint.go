package cw

// Failpoint is called with the name of a step right after that step, so that a
// test can end the process there. A nil Failpoint costs nothing.
type Failpoint func(step string)

// Hit reports that a step was reached.
func (f Failpoint) Hit(step string) {
	if f != nil {
		f(step)
	}
}
