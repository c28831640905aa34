package talker

import (
	"time"
)

// talkers is how many agents talk beside one that floods: one answers, the others
// ask it.
const talkers = 7

// FloodSize is how often each agent asks.
type FloodSize struct {
	Flood  int // the flooding one
	Alone  int // each of the others, before
	Beside int // each of the others, meanwhile
}

// Flooded is what came of a flood.
type Flooded struct {
	Flooder *Puppet
	Flood   Asked
	// Alone and Beside are how long the others waited for their answers, before
	// the flood and in it. Each of their questions was answered.
	Alone, Beside []time.Duration
	Lasted        time.Duration // of the flood
}

// Flood has agents talk, first alone and then beside one that asks without an
// end.
func (s *Stage) Flood(size FloodSize) Flooded {
	s.t.Helper()
	puppets := s.Spawn(1 + talkers)
	answerer, askers := puppets[1], puppets[2:]
	answerer.Answers("Yes.")
	converse := func(times int) (took []time.Duration) {
		s.t.Helper()
		var asking []<-chan Reports
		for _, p := range askers {
			asking = append(asking, p.Ask(Asking{To: string(answerer.ID), Times: times, Question: "Is it so?"}))
		}
		for i, p := range askers {
			done := p.Next(asking[i]).Asked
			if done.Answered != times {
				s.t.Errorf("agent %s asked %d times, and was answered %d times, refused %v", p.ID, times, done.Answered, done.Refused)
			}
			took = append(took, done.Took...)
		}
		return took
	}
	out := Flooded{Flooder: puppets[0], Alone: converse(size.Alone)}
	begun := time.Now()
	flood := out.Flooder.Ask(Asking{To: string(answerer.ID), Times: size.Flood, Question: "And now?"})
	out.Beside = converse(size.Beside)
	out.Flood = out.Flooder.Next(flood).Asked
	out.Lasted = time.Since(begun)
	return out
}
