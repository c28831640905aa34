package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// actorCommand is the first argument that makes the program an agent's CLI.
const actorCommand = "actor"

func main() {
	if len(os.Args) > 1 && os.Args[1] == actorCommand {
		os.Exit(actorMain(os.Args[2:]))
	}
	if err := drive(); err != nil {
		fmt.Fprintln(os.Stderr, "weblab:", err)
		os.Exit(1)
	}
}

// order is what the driver wants; answer is what came of it.
type order struct {
	ID int    `json:"id"`
	Do string `json:"do"`
}

type answer struct {
	ID    int    `json:"id"`
	OK    bool   `json:"ok"`
	Error string `json:"error,omitempty"`
}

// drive makes a stage and obeys until standard input ends, or a signal comes.
func drive() (err error) {
	binary := flag.String("cw", "", "the program under test")
	flag.Parse()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	s, err := newStage(*binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- obey(s, os.Stdin, os.Stdout) }() // ends with the process
	select {
	case err := <-done:
		return err
	case <-signals:
		return nil
	}
}

// obey carries out orders one after the other.
func obey(s *stage, in io.Reader, out io.Writer) error {
	orders, answers := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(out)
	for {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		a := answer{ID: o.ID, OK: true}
		if err := s.do(o.Do); err != nil {
			a.OK, a.Error = false, err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return err
		}
	}
}
