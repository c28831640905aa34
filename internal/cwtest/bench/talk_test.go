//go:build linux

package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/talker"
)

// asksOfOne is how often one agent asks in a row: fewer than it may in a minute.
const asksOfOne = cw.AsksPerMinute - 5

// talk times whole commands of agents: from the start of cw ask to the question
// on the stdout of cw listen, and from the start of cw answer to the answer on the
// stdout of cw ask.
func talk(r *rig) []figure {
	s := talker.NewStage(r, binary)
	agents := s.Spawn(1 + (r.talks+asksOfOne-1)/asksOfOne)
	listener, askers := agents[0], agents[1:]
	heard := listener.Run("cw", "listen", "--follow")
	listener.Next(heard) // it starts
	var asked, answered []time.Duration
	for i := range r.talks {
		asker := askers[i%len(askers)]
		asking := asker.Run("cw", "ask", "Is it so?", "--agent-id", string(listener.ID))
		begun := asker.Next(asking)
		question := listener.Next(heard)
		asked = append(asked, time.Duration(question.At-begun.At))

		var q cw.PendingConversation
		r.must(json.Unmarshal([]byte(question.Line), &q))
		answer := fmt.Sprintf("Yes, number %d.", i)
		answering := listener.Run("cw", "answer", answer, "--conversation-id", string(q.ConversationID))
		begun = listener.Next(answering)
		came := asker.Next(asking)
		answered = append(answered, time.Duration(came.At-begun.At))
		if q.FromAgentID != asker.ID || came.Line != answer+"\n" {
			r.Fatalf("%s asked, %q was heard and %q answered", asker.ID, question.Line, came.Line)
		}
		for _, end := range []talker.Reports{asker.Next(asking), listener.Next(answering), listener.Next(answering)} {
			if end.Over && end.Code != 0 {
				r.Fatalf("a command ended with %d", end.Code)
			}
		}
	}
	echoes := echo(r)
	floor := fmt.Sprintf("a bare echo between two processes: p50 %s, p99 %s", inMS(median(echoes)), inMS(quantile(echoes, 0.99)))
	return append(latency("`cw ask` → question on the stdout of `cw listen`", asked, 0, 50, floor),
		latency("`cw answer` → answer on the stdout of `cw ask`", answered, 0, 50, floor)...)
}

// beEcho is the other end of echo.
func beEcho(args []string) error {
	conn, err := net.Dial("unix", args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = io.Copy(conn, conn)
	return err
}

// echo times lines that another process gives back over a unix socket.
func echo(r *rig) (took []time.Duration) {
	r.Helper()
	socket := filepath.Join(r.TempDir(), "e")
	listener, err := net.Listen("unix", socket)
	r.must(err)
	defer listener.Close()
	self, err := os.Executable()
	r.must(err)
	cmd := exec.Command(self, echoCommand, socket)
	cmd.Stderr = os.Stderr
	r.must(cmd.Start())
	conn, err := listener.Accept()
	r.must(err)
	back := bufio.NewReader(conn)
	for range max(100, r.talks) {
		took = append(took, tookLine(r, conn, back))
	}
	r.must(errors.Join(conn.Close(), cmd.Wait()))
	return took
}

func tookLine(r *rig, conn net.Conn, back *bufio.Reader) time.Duration {
	return took(func() {
		_, err := io.WriteString(conn, "Is it so?\n")
		r.must(err)
		_, err = back.ReadString('\n')
		r.must(err)
	})
}

// flood has agents talk, alone and beside one that asks without an end.
func flood(r *rig) []figure {
	got := talker.NewStage(r, binary).Flood(r.flood)
	a, b := quantile(got.Alone, 0.99), quantile(got.Beside, 0.99)
	return []figure{{
		what:  fmt.Sprintf("seven agents that talk beside one that asks %d times: question → answer, p99", r.flood.Flood),
		ours:  inMS(b),
		floor: fmt.Sprintf("without it: %s; %d of its questions were taken", inMS(a), got.Flood.Answered),
		value: float64(b) / float64(max(a, 1)), goal: goal{bound: 2, unit: "×"},
	}}
}
