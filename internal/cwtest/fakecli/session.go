package fakecli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Options of the CLI, and the variable that names the folder of its books.
const (
	newSession    = "--session"
	oldSession    = "--resume"
	booksVariable = "FAKECLI_BOOKS"
)

// sayMark begins every mark that a text may hold.
const sayMark = "SAY-"

// sessionArgs reads the arguments: which session, and whether it goes on.
func sessionArgs(args []string) (id string, resumed bool) {
	if len(args) < 2 {
		return "", false
	}
	return args[1], args[0] == oldSession
}

func sessionFile(dir, id string) string { return filepath.Join(dir, id+".session") }

// sessionsDir is where sessions are kept: in the account's configuration
// directory, when there is one.
func sessionsDir(books string) string {
	if home := os.Getenv(HomeVariable); home != "" {
		return filepath.Join(home, "sessions")
	}
	return books
}

// enterSession adds a turn to a session: a new one must not be there yet, one
// that is resumed must be.
func enterSession(dir, id string, resumed bool) error {
	if id == "" {
		return nil
	}
	flags := os.O_WRONLY | os.O_APPEND
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if !resumed {
		flags |= os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(sessionFile(dir, id), flags, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("No conversation found with session ID %s", id) //nolint:staticcheck // the words of a CLI
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("session ID %s is already in use", id)
	case err != nil:
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, os.Getenv("CW_RUN"))
	return err
}

// memory is what the CLI knows of one agent from run to run: it stands for the
// model, which knows what it did already.
type memory struct {
	Last Script   `json:"last"` // of the last run
	Ran  []string `json:"ran"`  // hash of the script of each run, "" for one that nobody told

	file string
}

// recall reads the memory of an agent.
func recall(dir, agent string) (*memory, error) {
	m := &memory{file: filepath.Join(dir, agent+".memory")}
	data, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	return m, json.Unmarshal(data, m)
}

// choose gives the script of this run: that of the prompt, unless an earlier
// run did it (a prompt may tell what happened before), else what comes after
// the last one.
func (m *memory) choose(s Script, text string) (Script, error) {
	sum := ""
	switch {
	case text != "" && !slices.Contains(m.Ran, hash(text)):
		sum = hash(text)
	case len(m.Ran) == 0:
		return s, errNoScript
	default:
		s = m.Last.after()
	}
	m.Last, m.Ran = s, append(m.Ran, sum)
	return s, nil
}

// keep stores the memory, whole or not at all.
func (m *memory) keep() error {
	data, err := json.Marshal(m)
	if err != nil { // plain fields always encode
		panic(err)
	}
	if err := os.WriteFile(m.file+".tmp", data, 0o600); err != nil {
		return err
	}
	return os.Rename(m.file+".tmp", m.file)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Says lists the marks of a text, in order.
func Says(text string) []string {
	return regexp.MustCompile(sayMark+`[a-z0-9]+`).FindAllString(text, -1)
}

// lacks gives the first of the texts that is not there, "" for none.
func lacks(text string, wanted []string) string {
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			return w
		}
	}
	return ""
}
