package api_test

import (
	"net/http"
	"strings"
	"testing"

	"cw/internal/cw"
)

// TestSecretsStayInside: a secret that comes in is in no answer, no error and no
// line of the log, however wrong the request around it is; and it arrives.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	d := startDaemon(t, nil)
	const secret = "sk-ant-oat01-swordfish"
	for _, body := range []string{
		`{"token":"` + secret + `"`,
		`{"token":["` + secret + `"]}`,
		`{"token":{"` + secret + `":1}}`,
		`{"tokn":"` + secret + `"}`,
		`{"Token":"` + secret + `"}`,
		`{"token":"` + secret + `","token":"` + secret + `"}`,
		`{"name":"a b","token":"` + secret + `"}`,
		`{"token":"` + secret + `","apiKey":"` + secret + `"}`,
		`{"token":"` + secret + ` x"}`,
		`{"provider":"nobody","token":"` + secret + `"}`,
		`{"name":"work","priority":"` + secret + `"}`,
	} {
		got := send(t, d, http.MethodPost, "/v1/accounts", body, map[string]string{"Content-Type": "application/json"})
		if got.status == http.StatusOK || strings.Contains(got.body, "swordfish") {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
	got := send(t, d, http.MethodPost, "/v1/accounts", `{"name":"work","token":"`+secret+`"}`, map[string]string{"Content-Type": "application/json"})
	if got.status != http.StatusOK || strings.Contains(got.body, "swordfish") {
		t.Errorf("%d %s", got.status, got.body)
	}
	// It arrived as it is: through the client it is the same login.
	_, err := d.client("").AddAccount(t.Context(), cw.AddAccountRequest{Name: "again", Token: cw.NewSecret(secret)})
	if cw.ErrorCode(err) != cw.CodeRefused || strings.Contains(err.Error()+cw.ErrorHint(err), "swordfish") {
		t.Errorf("the same login again: %v", err)
	}
	if strings.Contains(d.log.String(), "swordfish") {
		t.Errorf("the log tells the secret:\n%s", d.log)
	}
}
