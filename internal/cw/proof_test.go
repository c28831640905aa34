package cw_test

import (
	"strings"
	"testing"

	"cw/internal/cw"
)

func TestProofRequest(t *testing.T) {
	t.Parallel()
	for nonce, good := range map[string]bool{
		strings.Repeat("a", 15): false, strings.Repeat("a", 16): true, strings.Repeat("Z", 64): true, strings.Repeat("a", 65): false,
		"": false, "0123456789abcdef-_": true, "0123456789abcdef\n": false, "0123456789abcdef ": false, "0123456789abcdefé": false,
	} {
		if err := (cw.ProofRequest{Nonce: nonce}).Check(); (err == nil) != good || !good && cw.ErrorCode(err) != cw.CodeInvalid {
			t.Errorf("%q: %v", nonce, err)
		}
	}
}

// TestSessionProof: the page computes the same (web/src/api/proof.test.ts has
// the same example), and whatever is asked is in it.
func TestSessionProof(t *testing.T) {
	t.Parallel()
	asked := cw.ProofRequest{Session: "k3v7q2mzt5ha", Nonce: "0123456789abcdef", Host: "127.0.0.1:7420"}
	key := cw.HashToken("cwd_example")
	lives := cw.SessionProof(key, cw.SessionLives, asked)
	if want := "7e94286d76608776c63d0e6af6188426c36626a2c7d691423b7599cdadab4a54"; lives != want {
		t.Errorf("%s, want %s", lives, want)
	}
	others := map[string]bool{lives: true}
	for i := range 5 {
		key, state, r := key, cw.SessionLives, asked
		switch i {
		case 0:
			key = cw.HashToken("cwd_other")
		case 1:
			state = cw.SessionOver
		case 2:
			r.Session = "aaaaaaaaaaaa"
		case 3:
			r.Nonce += "0"
		case 4:
			r.Host = "127.0.0.1:7421"
		}
		proof := cw.SessionProof(key, state, r)
		if others[proof] || len(proof) != len(lives) {
			t.Errorf("%d: %s again", i, proof)
		}
		others[proof] = true
	}
}
