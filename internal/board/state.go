package board

import "cw/internal/cw"

// state is how an agent is, in the one word that stands beside its name: its
// status, or in the place of running what is wrong with that.
type state int

const (
	statePending state = iota
	stateStarting
	stateRunning
	stateWaiting
	stateParked
	stateIdle
	stateCrashed
	stateStopped
	stateRetrying
	stateStalled
	stateError
)

// stateOf tells how an agent is.
func stateOf(v cw.AgentView) state {
	switch v.Status {
	case cw.StatusPending:
		return statePending
	case cw.StatusStarting:
		return stateStarting
	case cw.StatusWaitingForInput:
		return stateWaiting
	case cw.StatusParked:
		return stateParked
	case cw.StatusIdle:
		return stateIdle
	case cw.StatusCrashed:
		return stateCrashed
	case cw.StatusStopped:
		return stateStopped
	}
	if v.Activity != nil {
		switch v.Activity.State {
		case cw.ActivityRetrying:
			return stateRetrying
		case cw.ActivityStalled:
			return stateStalled
		case cw.ActivityError:
			return stateError
		}
	}
	return stateRunning
}

// sign is how a state is drawn: a word, a character of its own in both alphabets,
// and the ink of the mark. The word has that ink only when somebody should look.
type sign struct {
	word, mark, ascii string
	ink               ink
	loud              bool
}

func (s state) sign() sign {
	return [...]sign{
		statePending:  {"Pending", "·", ".", dim, false},
		stateStarting: {"Starting", "◌", ",", work, true},
		stateRunning:  {"Running", "○", "o", work, false},
		stateWaiting:  {"Waiting", "?", "?", need, true},
		stateParked:   {"Parked", "‖", "=", held, true},
		stateIdle:     {"Idle", "✓", "+", done, false},
		stateCrashed:  {"Crashed", "✗", "x", fail, true},
		stateStopped:  {"Stopped", "■", "#", dim, false},
		stateRetrying: {"Retrying", "↻", "~", work, true},
		stateStalled:  {"Stalled", "△", "^", need, true},
		stateError:    {"Error", "▲", "!", fail, true},
	}[s]
}

func (s state) word() string { return s.sign().word }

// markOf gives the mark of an agent. That of one that runs fills with its plan.
func (l Look) markOf(v cw.AgentView) span {
	s := stateOf(v)
	sg := s.sign()
	switch {
	case l.ASCII:
		return span{sg.ascii, sg.ink}
	case s == stateRunning && v.Plan != nil && v.Plan.Of > 0:
		return span{ring(v.Plan.Done, v.Plan.Of), sg.ink}
	}
	return span{sg.mark, sg.ink}
}

// ring is how much of a plan is over.
func ring(over, of int) string {
	switch part := float64(over) / float64(of); {
	case part >= 1:
		return "●"
	case part >= 0.65:
		return "◕"
	case part >= 0.4:
		return "◑"
	}
	return "◔"
}

// step gives the mark of a plan as a whole.
func (l Look) step(p cw.PlanSummary) span {
	if l.ASCII {
		return span{stateRunning.sign().ascii, work}
	}
	return span{ring(p.Done, max(p.Of, 1)), work}
}

// kindSign is how a kind of thing that waits is drawn, and what several are called.
func kindSign(k cw.InboxKind) (s sign, plural string) {
	switch k {
	case cw.InboxQuestion:
		return sign{"Question", "?", "?", need, true}, "questions"
	case cw.InboxCheckpoint:
		return sign{"Checkpoint", "!", "!", need, true}, "checkpoints"
	case cw.InboxProposal:
		return sign{"Proposal", "±", "%", need, true}, "proposals"
	case cw.InboxStalled:
		return sign{"Stalled", "△", "^", need, true}, "stalled"
	case cw.InboxLimit:
		return sign{"Limit", "◷", "@", held, true}, "limits"
	case cw.InboxCrashed:
		return sign{"Crashed", "✗", "x", fail, true}, "crashed"
	case cw.InboxMerge:
		return sign{"Merge", "⊗", "&", fail, true}, "merges"
	case cw.InboxBlocked:
		return sign{"Blocked", "⊖", "/", held, true}, "blocked"
	case cw.InboxProject:
		return sign{"Project", "◇", ":", need, true}, "projects"
	case cw.InboxLanding:
		return sign{"Landing", "↓", "v", done, true}, "landings"
	}
	return sign{"Other", "•", "*", need, true}, "others"
}

func (l Look) mark(s sign) span {
	if l.ASCII {
		return span{s.ascii, s.ink}
	}
	return span{s.mark, s.ink}
}
