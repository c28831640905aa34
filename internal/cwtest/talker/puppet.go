package talker

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// patience bounds every wait; on a loaded machine things are slow.
const patience = 5 * time.Minute

// Stage is a lab whose provider "talker" is this agent.
type Stage struct {
	*lab.Lab
	t        testing.TB
	listener net.Listener

	mu      sync.Mutex
	puppets map[cw.AgentID]*Puppet // guarded by mu
	came    chan struct{}          // guarded by mu; closed when one more is there
}

// Puppet is one agent in the hands of a test.
type Puppet struct {
	ID   cw.AgentID
	t    testing.TB
	conn net.Conn

	mu      sync.Mutex
	number  int                  // guarded by mu: of the last order
	reports map[int]chan Reports // guarded by mu: by order
}

// Reports is what a test hears of an order.
type Reports struct {
	At    int64 // by Now, in ns
	Line  string
	Over  bool
	Code  int
	Asked Asked
	Error string
}

// NewStage makes a lab with the provider "talker" and starts its daemon.
func NewStage(t testing.TB, binary string, env ...string) *Stage {
	t.Helper()
	s := &Stage{t: t, puppets: map[cw.AgentID]*Puppet{}, came: make(chan struct{})}
	t.Cleanup(s.letGo) // after the lab has ended the agents
	s.Lab = lab.New(t, binary)
	s.Env = env
	socket := filepath.Join(string(s.Home), "talk.sock")
	self, err := os.Executable()
	s.must(err)
	s.must(os.WriteFile(filepath.Join(s.Home.Providers(), "talker.yaml"), []byte(Preset(self, socket)), 0o600))
	s.listener, err = net.Listen("unix", socket)
	s.must(err)
	done := make(chan struct{})
	go func() { s.accept(); close(done) }() // ends with the listener
	t.Cleanup(func() {
		_ = s.listener.Close()
		<-done
	})
	s.Start()
	return s
}

func (s *Stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *Stage) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.puppets {
		_ = p.conn.Close()
	}
}

func (s *Stage) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		heard := json.NewDecoder(conn)
		var hello report
		if err := heard.Decode(&hello); err != nil {
			s.t.Errorf("an agent's hello: %v", err)
			continue
		}
		p := &Puppet{ID: cw.AgentID(hello.Line), t: s.t, conn: conn, reports: map[int]chan Reports{}}
		go p.hear(heard) // ends with the connection
		s.mu.Lock()
		s.puppets[p.ID] = p
		close(s.came)
		s.came = make(chan struct{})
		s.mu.Unlock()
	}
}

// Spawn starts n agents, and gives them when all of them run.
func (s *Stage) Spawn(n int) []*Puppet {
	s.t.Helper()
	out := make([]*Puppet, n)
	for i := range out {
		view, err := s.Client().Spawn(s.t.Context(), cw.SpawnRequest{
			RequestKey: cw.NewID(), Goal: "Talk.", Projects: []string{s.Repo}, Provider: "talker",
			Env: map[string]string{"PATH": os.Getenv("PATH")},
		})
		s.must(err)
		out[i] = s.of(view.ID)
	}
	return out
}

// of waits for an agent's hello.
func (s *Stage) of(id cw.AgentID) *Puppet {
	s.t.Helper()
	for end := time.After(patience); ; {
		s.mu.Lock()
		p, came := s.puppets[id], s.came
		s.mu.Unlock()
		if p != nil {
			return p
		}
		select {
		case <-came:
		case <-end:
			s.t.Fatalf("agent %s says nothing", id)
		}
	}
}

func (p *Puppet) hear(from *json.Decoder) {
	for {
		var r report
		if err := from.Decode(&r); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			for n, c := range p.reports {
				close(c)
				delete(p.reports, n)
			}
			return
		}
		p.mu.Lock()
		c := p.reports[r.Number]
		p.mu.Unlock()
		if c != nil {
			c <- Reports{At: r.At, Line: r.Line, Over: r.Over, Code: r.Code, Asked: r.Asked, Error: r.Error}
		}
	}
}

// tell gives an order.
func (p *Puppet) tell(o order) <-chan Reports {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number++
	o.Number = p.number
	c := make(chan Reports, 10_000) // more than a test does not read
	p.reports[o.Number] = c
	if err := json.NewEncoder(p.conn).Encode(o); err != nil {
		p.t.Fatalf("tell agent %s: %v", p.ID, err)
	}
	return c
}

// Next gives the next report of an order.
func (p *Puppet) Next(c <-chan Reports) Reports {
	p.t.Helper()
	select {
	case r, ok := <-c:
		if !ok || r.Error != "" {
			p.t.Fatalf("agent %s: %s, still there: %v", p.ID, r.Error, ok)
		}
		return r
	case <-time.After(patience):
		p.t.Fatalf("agent %s reports nothing", p.ID)
		return Reports{}
	}
}

// Run lets the agent run a command. The first report is its start, the last one
// its end.
func (p *Puppet) Run(command ...string) <-chan Reports {
	p.t.Helper()
	return p.tell(order{Run: command})
}

// Ask lets it ask, and gives what came of that when it is over.
func (p *Puppet) Ask(a Asking) <-chan Reports {
	p.t.Helper()
	return p.tell(order{Ask: &a})
}

// Answers lets it answer whatever it is asked, from when it returns on.
func (p *Puppet) Answers(words string) {
	p.t.Helper()
	p.Next(p.tell(order{Answer: words}))
}
