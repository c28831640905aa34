package cw

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// ProofRequest asks the daemon to show that it is the one that a session is of,
// before the session's token is sent there: while the daemon is away, another
// program may answer at its port.
type ProofRequest struct {
	Session TokenID
	Nonce   string // of the asker, new each time
	Host    string // that was asked, with the port
}

// Limits of a nonce in bytes.
const (
	nonceMin = 16
	nonceMax = 64
)

// Check refuses a nonce that is none. CodeInvalid.
func (r ProofRequest) Check() error {
	bad := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
	}
	if len(r.Nonce) < nonceMin || len(r.Nonce) > nonceMax || strings.ContainsFunc(r.Nonce, bad) {
		return Errorf(CodeInvalid, "nonce must be %d to %d letters, digits, - and _", nonceMin, nonceMax).WithHint("take random ones, new for each request")
	}
	return nil
}

// SessionState is what a proof says of a session.
type SessionState string

// A session lives, or it is over.
const (
	SessionLives SessionState = "lives"
	SessionOver  SessionState = "over"
)

// SessionProof is the answer to a request by who has the hash of the session's
// token. Who has the token can compute it too, and nobody can act with the hash.
// The host is in it, so that no program at another port can pass the question
// on to the daemon.
func SessionProof(tokenHash string, state SessionState, r ProofRequest) string {
	mac := hmac.New(sha256.New, []byte(tokenHash))
	_, _ = mac.Write([]byte(strings.Join([]string{"cw session proof 1", string(state), r.Host, string(r.Session), r.Nonce}, "\n"))) // never fails
	return hex.EncodeToString(mac.Sum(nil))
}
