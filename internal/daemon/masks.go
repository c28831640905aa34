package daemon

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/sys/unix"

	"cw/internal/cw"
	"cw/internal/redact"
)

// masks is what masks live secrets in all that the daemon writes down.
type masks struct {
	*redact.Set                // nil: nothing is masked
	keeper      *redact.Keeper // of secrets that no vault has
}

// masksOf makes the masks of a home.
func masksOf(c Config) masks {
	if off := guardsOf(c.Environ); off.Off("masked") {
		return masks{}
	}
	return newMasks(c.Home)
}

func newMasks(home cw.Home) masks {
	return masks{Set: redact.NewSet(), keeper: &redact.Keeper{Key: filepath.Join(home.Secrets(), "masks.key")}}
}

// maskedWriter masks what is written to w. Each Write is a whole line.
type maskedWriter struct {
	w   io.Writer
	set *redact.Set
}

// Write implements io.Writer.
func (m maskedWriter) Write(line []byte) (int, error) {
	n, err := m.w.Write(m.set.Mask(line))
	return min(n, len(line)), err
}

// tokenFile keeps a dashboard's token for the masks of later daemons.
func tokenFile(home cw.Home, id cw.TokenID) string {
	return filepath.Join(home.Secrets(), "token-"+string(id))
}

// learnToken notes a dashboard's token, also for later daemons.
func (m masks) learnToken(home cw.Home, id cw.TokenID, secret string) error {
	m.Put("token/"+string(id), secret)
	if err := m.keeper.Keep(tokenFile(home, id), []string{secret}); err != nil {
		return fmt.Errorf("keep the token for its masks: %w", err)
	}
	return nil
}

// forgetToken takes back what learnToken noted.
func (m masks) forgetToken(home cw.Home, id cw.TokenID) {
	m.Put("token/" + string(id))
	_ = os.Remove(tokenFile(home, id)) // a token that is masked for nothing harms nobody
}

// recallTokens notes the tokens that earlier daemons made, all that can be read.
func (m masks) recallTokens(home cw.Home) error {
	files, err := filepath.Glob(tokenFile(home, "*"))
	if err != nil {
		return fmt.Errorf("look for tokens: %w", err)
	}
	var unread []error
	for _, file := range files {
		secrets, err := m.keeper.Recall(file)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		_, id, _ := strings.Cut(filepath.Base(file), "-")
		m.Put("token/"+id, secrets...)
	}
	return errors.Join(unread...)
}

// noCore keeps this process from leaving its memory behind when it dies.
// Programs that it starts may not either.
func noCore() error {
	debug.SetTraceback("single")
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core files off: %w", err)
	}
	return nil
}
