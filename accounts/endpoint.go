package accounts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answerMax bounds a provider's answer, in bytes.
const answerMax = 1 << 20

// answer is what a token endpoint says.
type answer struct {
	AccessToken  string  `json:"access_token"`
	RefreshToken string  `json:"refresh_token"`
	ExpiresIn    float64 `json:"expires_in"` // seconds
	IDToken      string  `json:"id_token"`   // of codex's
}

// deadError says that a login cannot be renewed any more.
type deadError struct{ why string }

func (e *deadError) Error() string { return e.why }

// ask asks the endpoint for new tokens. No answer's text comes into an error but
// a short code.
func (m *Manager) ask(ctx context.Context, f form, c credentials) (answer, error) {
	ask := map[string]string{"grant_type": "refresh_token", "refresh_token": c.refresh, "client_id": f.clientID}
	var scopes []string
	if json.Unmarshal(c.fields["scopes"], &scopes) == nil && len(scopes) > 0 {
		ask["scope"] = strings.Join(scopes, " ")
	}
	body, _ := json.Marshal(ask)
	address := f.tokenURL
	if m.TokenURL != "" {
		address = m.TokenURL
	}
	// What was asked for must be read to its end: the token is spent by asking.
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, errors.New("the address of the token endpoint is none")
	}
	req.Header.Set("Content-Type", "application/json")
	status, data, err := m.do(req)
	if err != nil {
		return answer{}, fmt.Errorf("ask the token endpoint: %w", err)
	}
	var got answer
	if status == http.StatusOK && json.Unmarshal(data, &got) == nil && got.AccessToken != "" {
		return got, nil
	}
	code := errorCode(data)
	switch {
	case status == http.StatusBadRequest && code == "invalid_grant",
		status == http.StatusUnauthorized && strings.HasPrefix(code, "refresh_token_"): // codex: expired, reused, invalidated
		return answer{}, &deadError{"the provider does not renew it any more (" + code + ")"}
	}
	return answer{}, fmt.Errorf("the token endpoint answered %d %s", status, code)
}

// do makes a request and reads its answer. Errors hold the address, no header
// and no body.
func (m *Manager) do(req *http.Request) (status int, body []byte, err error) {
	resp, err := m.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, answerMax))
	return resp.StatusCode, body, err
}

// errorCode takes the code out of an answer, "" when there is none that is a
// word.
func errorCode(body []byte) string {
	var a struct {
		Error json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(body, &a)
	var code string
	if json.Unmarshal(a.Error, &code) != nil {
		var o struct{ Type, Code string }
		_ = json.Unmarshal(a.Error, &o)
		if code = o.Code; code == "" {
			code = o.Type
		}
	}
	if len(code) > 40 || strings.Trim(code, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return code
}
