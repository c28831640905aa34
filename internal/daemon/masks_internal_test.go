package daemon

import (
	"os"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestTokensAreRecalled: the next daemon masks the tokens that the last one made,
// also when the file of one of them is damaged; revoked ones are forgotten.
func TestTokensAreRecalled(t *testing.T) {
	t.Parallel()
	home := cw.Home(t.TempDir())
	secrets := map[cw.TokenID]string{}
	last := newMasks(home)
	for _, id := range []cw.TokenID{"aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"} {
		secrets[id] = cw.NewDashboardToken()
		must(t, last.learnToken(home, id, secrets[id]))
	}
	last.forgetToken(home, "cccccccccccc")
	must(t, os.WriteFile(tokenFile(home, "aaaaaaaaaaaa"), []byte("damaged"), 0o600))
	next := newMasks(home)
	if err := next.recallTokens(home); err == nil || !strings.Contains(err.Error(), "token-aaaaaaaaaaaa") {
		t.Errorf("the damaged file: %v", err)
	}
	for id, secret := range secrets {
		masked := string(next.Mask([]byte("it is " + secret)))
		if (masked == "it is "+strings.Repeat("*", len(secret))) != (id == "bbbbbbbbbbbb") {
			t.Errorf("%s: %q", id, masked)
		}
	}
}
