package accounts

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zalando/go-keyring"
)

const (
	// pieceMax is how many bytes an entry of a keyring holds: macOS's takes a
	// little less than 3,000 (go-keyring 0.2.8), and a login of codex has more.
	pieceMax = 2 << 10
	// piecesMax is how many entries one secret may have.
	piecesMax = 64
	// piecesHead begins an entry that tells where the pieces are.
	piecesHead = "cw-pieces"
	// pieceReads is how often an entry is read that is being replaced.
	pieceReads = 3
)

var errTorn = errors.New("its pieces in the keyring do not fit together")

// pieces is a secret in several entries. There are two sets of them, a and b: one
// is written while the other counts.
type pieces struct {
	set   string
	count int
	sum   string // of the whole text
}

func piecesOf(set, text string) pieces {
	sum := sha256.Sum256([]byte(text))
	return pieces{set: set, count: (len(text) + pieceMax - 1) / pieceMax, sum: hex.EncodeToString(sum[:])}
}

// head is the entry that tells of them.
func (p pieces) head() string {
	return strings.Join([]string{piecesHead, p.set, strconv.Itoa(p.count), p.sum}, " ")
}

// parsePieces reads such an entry; false for one that is a secret itself.
func parsePieces(text string) (pieces, bool) {
	fields := strings.Fields(text)
	if len(fields) != 4 || fields[0] != piecesHead {
		return pieces{}, false
	}
	count, err := strconv.Atoi(fields[2])
	return pieces{fields[1], count, fields[3]}, err == nil && count > 0 && count <= piecesMax
}

func pieceName(entry, set string, n int) string { return fmt.Sprintf("%s/%s/%d", entry, set, n) }

// getEntry reads a secret, in one entry or several. keyring.ErrNotFound without
// one.
func getEntry(entry string) (string, error) {
	err := errTorn
	for range pieceReads {
		var text string
		if text, err = keyring.Get(keyringService, entry); err != nil {
			return "", err
		}
		p, is := parsePieces(text)
		if !is {
			return text, nil
		}
		if text, err = p.read(entry); err == nil {
			return text, nil
		}
	}
	return "", err
}

func (p pieces) read(entry string) (string, error) {
	var text strings.Builder
	for n := range p.count {
		piece, err := keyring.Get(keyringService, pieceName(entry, p.set, n))
		if errors.Is(err, keyring.ErrNotFound) {
			return "", errTorn // replaced in this moment, or somebody took it away
		}
		if err != nil {
			return "", err
		}
		text.WriteString(piece)
	}
	if piecesOf(p.set, text.String()) != p {
		return "", errTorn
	}
	return text.String(), nil
}

// setEntry stores a secret: what is read is the old one or the new one.
func setEntry(entry, text string) error {
	if len(text) > pieceMax*piecesMax {
		return fmt.Errorf("it takes no more than %d bytes", pieceMax*piecesMax)
	}
	set, head := "a", text
	old, err := keyring.Get(keyringService, entry)
	if err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return err
	}
	if p, is := parsePieces(old); is && p.set == set {
		set = "b"
	}
	if len(text) > pieceMax {
		p := piecesOf(set, text)
		for n := range p.count {
			if err := keyring.Set(keyringService, pieceName(entry, set, n), text[n*pieceMax:min(len(text), (n+1)*pieceMax)]); err != nil {
				return err
			}
		}
		head = p.head()
	}
	if err := keyring.Set(keyringService, entry, head); err != nil {
		return err
	}
	if p, is := parsePieces(old); is {
		return dropPieces(entry, p.set)
	}
	return nil
}

// deleteEntry forgets a secret, also one whose storing was cut short.
func deleteEntry(entry string) error {
	err := keyring.Delete(keyringService, entry)
	if errors.Is(err, keyring.ErrNotFound) {
		err = nil
	}
	return errors.Join(err, dropPieces(entry, "a"), dropPieces(entry, "b"))
}

// dropPieces takes a set away, from its end, so that one that was cut short is
// found by its first.
func dropPieces(entry, set string) error {
	count := 0
	for ; count < piecesMax; count++ {
		if _, err := keyring.Get(keyringService, pieceName(entry, set, count)); err != nil {
			break
		}
	}
	for n := count - 1; n >= 0; n-- {
		if err := keyring.Delete(keyringService, pieceName(entry, set, n)); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return err
		}
	}
	return nil
}
