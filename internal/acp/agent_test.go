package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

// agentVariable names the scripted agent that a process is to be.
const agentVariable = "ACP_TEST_AGENT"

// agent is the far end: a process that speaks the protocol from a script.
type agent struct {
	in  *bufio.Reader
	out *bufio.Writer
}

// heard is what the driver says to an agent.
type heard struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string            `json:"sessionId"`
		Cwd       string            `json:"cwd"`
		Servers   []json.RawMessage `json:"mcpServers"`
		Mode      string            `json:"modeId"`
		Model     string            `json:"modelId"`
		Option    string            `json:"configId"`
		Value     string            `json:"value"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// agents are the scripts.
func agents() map[string]func(*agent) int {
	return map[string]func(*agent) int{
		"echo":         (*agent).echo,
		"asks":         (*agent).asks,
		"garbage":      (*agent).garbage,
		"dies":         (*agent).dies,
		"silent":       (*agent).silent,
		"deaf":         (*agent).deaf,
		"stubborn":     (*agent).stubborn,
		"cancels":      (*agent).cancels,
		"large":        (*agent).large,
		"floods":       (*agent).floods,
		"last words":   (*agent).lastWords,
		"holds pipe":   (*agent).holdsPipe,
		"no load":      (*agent).noLoad,
		"refuses mode": (*agent).refusesMode,
		"models":       (*agent).models,
		"options":      (*agent).options,
		"odd answer":   (*agent).oddAnswer,
	}
}

func beAgent(name string) int {
	a := &agent{in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout)}
	if path, ok := strings.CutPrefix(name, "play "); ok {
		return a.play(path)
	}
	return agents()[name](a)
}

// hear reads the next message; a nil one is the end.
func (a *agent) hear() *heard {
	text, err := a.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	m := &heard{}
	if err := json.Unmarshal(text, m); err != nil {
		fmt.Fprintf(os.Stderr, "the driver wrote %s: %v\n", text, err)
		os.Exit(9)
	}
	return m
}

// want hears a message with a method; "" wants an answer.
func (a *agent) want(method string) *heard {
	m := a.hear()
	if m == nil {
		os.Exit(0)
	}
	if m.Method != method {
		fmt.Fprintf(os.Stderr, "the driver sent %q in place of %q\n", m.Method, method)
		os.Exit(8)
	}
	return m
}

func (a *agent) say(format string, args ...any) {
	fmt.Fprintf(a.out, format+"\n", args...)
	a.out.Flush()
}

func (a *agent) result(to *heard, result string) {
	a.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.ID, result)
}

func (a *agent) chunk(text string) {
	quoted, _ := json.Marshal(text)
	a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}}}`, quoted)
}

// begin leads to the prompt.
func (a *agent) begin() (prompt *heard) {
	a.result(a.want("initialize"), `{"protocolVersion":1,"agentInfo":{"name":"scripted","version":"1"},"agentCapabilities":{"loadSession":true}}`)
	a.result(a.want("session/new"), `{"sessionId":"s1"}`)
	return a.want("session/prompt")
}

// end is the good end of a turn, and of the agent with its input.
func (a *agent) end(prompt *heard) int {
	a.result(prompt, `{"stopReason":"end_turn"}`)
	a.hear()
	return 0
}

// echo tells what it was sent, and where it runs.
func (a *agent) echo() int {
	a.result(a.want("initialize"), `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
	session := a.hear()
	a.chunk("replay of what was long ago")
	a.result(session, `{"sessionId":"s1"}`)
	prompt := a.want("session/prompt")
	dir, _ := os.Getwd()
	a.chunk(fmt.Sprintf("%s %s %s in %s with %s, process in %s", session.Method, session.Params.SessionID,
		prompt.Params.Prompt[0].Text, session.Params.Cwd, bytes.Join(toBytes(session.Params.Servers), []byte(" ")), dir))
	return a.end(prompt)
}

func toBytes(raw []json.RawMessage) (out [][]byte) {
	for _, r := range raw {
		out = append(out, r)
	}
	return out
}

// asks asks with the numbers that the driver uses too, and tells the answers.
func (a *agent) asks() int {
	prompt := a.begin()
	for _, ask := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"no","kind":"reject_once","name":"n"},{"optionId":"once","kind":"allow_once","name":"o"},{"optionId":"always","kind":"allow_always","name":"a"}],"toolCall":{"toolCallId":"t","content":[{"type":"hologram"}]}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{"sessionId":"s1","options":[{"optionId":"x","kind":"reject_once","name":"n"}],"toolCall":{"toolCallId":"t"}}}`,
		`{"jsonrpc":"2.0","id":"three","method":"craft/drainMidTurnQueue","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}`,
	} {
		a.say("%s", `{"jsonrpc":"2.0","method":"qwen/notify/status","params":{}}`)
		a.say("%s", ask)
		m := a.want("")
		a.chunk(fmt.Sprintf("%s %s%s", m.ID, m.Result, m.Error))
	}
	return a.end(prompt)
}

func (a *agent) garbage() int {
	a.say("Welcome to the agent!")
	a.say("[1,2")
	a.say("")
	prompt := a.begin()
	a.say(`{"jsonrpc":"2.0","id":99,"result":{}}`) // nobody asked
	a.say(`{"jsonrpc":"2.0"}`)
	a.say(`{"jsonrpc":"2.0","id":7,"method":5}`)
	a.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}`)
	a.chunk("still here")
	return a.end(prompt)
}

func (a *agent) dies() int {
	a.begin()
	a.chunk("half a wor")
	return 3
}

func (a *agent) silent() int {
	for a.hear() != nil {
	}
	return 0
}

// deaf reads nothing and does not end.
func (a *agent) deaf() int {
	takeNoTERM()
	select {}
}

// takeNoTERM lets SIGTERM pass unheard. A runtime that waits for signals calls
// no bare select a deadlock.
func takeNoTERM() { signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM) }

// stubborn begins a turn and hears neither cancel nor SIGTERM.
func (a *agent) stubborn() int {
	takeNoTERM()
	a.begin()
	a.chunk("pid " + strconv.Itoa(os.Getpid()))
	select {}
}

// cancels ends its turn when it is told, after a last request.
func (a *agent) cancels() int {
	prompt := a.begin()
	a.chunk("working")
	a.want("session/cancel")
	a.say(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"options":[{"optionId":"once","kind":"allow_once","name":"o"}]}}`)
	a.chunk(string(a.want("").Result))
	a.result(prompt, `{"stopReason":"cancelled"}`)
	a.hear()
	return 0
}

func (a *agent) large() int {
	prompt := a.begin()
	a.chunk(strings.Repeat("x", 5<<20) + "end")
	a.chunk(fmt.Sprint(len(prompt.Params.Prompt[0].Text)))
	return a.end(prompt)
}

func (a *agent) floods() int {
	prompt := a.begin()
	for n := range 20_000 {
		fmt.Fprintf(a.out, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"x","n":%d}}}`+"\n", n)
	}
	return a.end(prompt)
}

// lastWords answers and is gone at once.
func (a *agent) lastWords() int {
	prompt := a.begin()
	a.chunk("bye")
	a.result(prompt, `{"stopReason":"end_turn"}`)
	return 0
}

// holdsPipe dies while a child of its own still holds its output.
func (a *agent) holdsPipe() int {
	a.begin()
	cmd := exec.Command("sleep", "900")
	cmd.Stdout = os.Stdout
	_ = cmd.Start()
	a.chunk("child " + strconv.Itoa(cmd.Process.Pid))
	return 4
}

func (a *agent) noLoad() int {
	a.result(a.want("initialize"), `{"protocolVersion":1,"agentCapabilities":{}}`)
	a.hear()
	return 0
}

func (a *agent) refusesMode() int {
	a.result(a.want("initialize"), `{"protocolVersion":1}`)
	a.result(a.want("session/new"), `{"sessionId":"s1"}`)
	mode := a.want("session/set_mode")
	a.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no mode %s"}}`, mode.ID, mode.Params.Mode)
	return a.end(a.want("session/prompt"))
}

// models takes any model but m9.
func (a *agent) models() int {
	a.result(a.want("initialize"), `{"protocolVersion":1}`)
	a.result(a.want("session/new"), `{"sessionId":"s1","models":{"currentModelId":"m0"},"configOptions":[{"id":"model","currentValue":"m0"}]}`)
	model := a.want("session/set_model")
	if model.Params.Model == "m9" {
		a.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such model"}}`, model.ID)
		a.hear()
		return 0
	}
	a.result(model, `{}`)
	return a.end(a.want("session/prompt"))
}

// options has the model as one option among others.
func (a *agent) options() int {
	a.result(a.want("initialize"), `{"protocolVersion":1}`)
	a.result(a.want("session/new"), `{"sessionId":"s1","configOptions":[{"id":"model","currentValue":"m0"}]}`)
	option := a.want("session/set_config_option")
	a.result(option, `{"configOptions":[]}`)
	prompt := a.want("session/prompt")
	a.chunk(option.Params.SessionID + " " + option.Params.Option + " " + option.Params.Value)
	return a.end(prompt)
}

func (a *agent) oddAnswer() int {
	a.result(a.want("initialize"), `{"protocolVersion":"one","agentInfo":5,"agentCapabilities":{"loadSession":"yes"}}`)
	a.result(a.want("session/new"), `{"configOptions":[{"id":"model","type":"slider","currentValue":3},{"id":"model","currentValue":"m"}],"models":[],"sessionId":"s1"}`)
	prompt := a.want("session/prompt")
	a.say(`{"jsonrpc":"2.0","id":%s,"error":"no object"}`, prompt.ID)
	a.hear()
	return 0
}

// play is the agent's side of a recording: it waits where the recording waits
// for the client, and puts the client's own numbers into its answers.
func (a *agent) play(path string) int {
	f, err := os.Open(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 7
	}
	defer f.Close()
	ids := map[string]json.RawMessage{} // recorded number of a client's request to its number here
	for dec := json.NewDecoder(f); ; {
		var step struct {
			Dir string
			Msg json.RawMessage
		}
		if err := dec.Decode(&step); err == io.EOF {
			return 0
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 7
		}
		var recorded heard
		_ = json.Unmarshal(step.Msg, &recorded)
		switch {
		case step.Dir == ">" && recorded.Method == "":
			if m := a.want(""); string(m.ID) != string(recorded.ID) {
				fmt.Fprintf(os.Stderr, "answer %s in place of %s\n", m.ID, recorded.ID)
				return 6
			}
		case step.Dir == ">":
			ids[string(recorded.ID)] = a.want(recorded.Method).ID
		case recorded.Method != "":
			a.say("%s", step.Msg)
		default:
			var msg map[string]json.RawMessage
			_ = json.Unmarshal(step.Msg, &msg)
			msg["id"] = ids[string(recorded.ID)]
			text, _ := json.Marshal(msg)
			a.say("%s", text)
		}
	}
}
