package cw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestSecretIsNotPrinted: by no verb, in no place of somebody's struct, by no
// encoder and no logger.
func TestSecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	const text = "sk-ant-oat01-swordfish"
	s := NewSecret(text)
	type exported struct{ S Secret }
	type hidden struct {
		s    Secret
		deep struct{ all []Secret }
	}
	h := hidden{s: s}
	h.deep.all = []Secret{s}
	var told []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%t", "%p"} {
		for _, v := range []any{s, &s, exported{s}, &exported{s}, h, []Secret{s}, map[string]Secret{"k": s}, fmt.Errorf("with %v", s)} {
			told = append(told, fmt.Sprintf(verb, v))
		}
	}
	for _, v := range []any{s, exported{s}, map[string]Secret{"k": s}} {
		data, err := json.Marshal(v)
		if err != nil || !strings.Contains(string(data), secretShown) {
			t.Errorf("%s %v", data, err)
		}
		told = append(told, string(data))
		for _, handler := range []func(*bytes.Buffer) slog.Handler{
			func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("x", "v", v)
			told = append(told, b.String())
		}
	}
	for _, line := range told {
		for _, form := range []string{"swordfish", fmt.Sprintf("%x", text), fmt.Sprintf("%X", text)} {
			if strings.Contains(line, form) {
				t.Errorf("told: %s", line)
			}
		}
	}
	if got := fmt.Sprintf("%v %s", s, exported{s}); got != "[redacted] {[redacted]}" {
		t.Error(got)
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	var none Secret
	if !none.Empty() || !NewSecret("").Empty() || none.Reveal() != "" || NewSecret("x").Empty() || NewSecret("x").Reveal() != "x" {
		t.Error("empty")
	}
	var in struct {
		A Secret `json:"a"`
		B Secret `json:"b"`
	}
	if err := json.Unmarshal([]byte(`{"a":"one","b":null}`), &in); err != nil || in.A.Reveal() != "one" || !in.B.Empty() {
		t.Errorf("%q %v %v", in.A.Reveal(), in.B.Empty(), err)
	}
	if err := json.Unmarshal([]byte(`{"a":["sk-x"]}`), &in); err == nil || strings.Contains(err.Error(), "sk-x") {
		t.Error(err)
	}
	data, err := json.Marshal(struct {
		A Secret `json:"a,omitzero"`
	}{})
	if err != nil || string(data) != "{}" {
		t.Errorf("%s %v", data, err)
	}
}

func TestAccountNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"work", "you@example.com", "Büro", strings.Repeat("x", AccountNameMax)} {
		if err := CheckAccountName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "a b", "a/b", `a\b`, "a\nb", "a\x7f", "a\u0085b", "a\u00a0b", "a\u202eb", "a\u200bb", "a\x1b[31m", "-x", "--json", strings.Repeat("x", AccountNameMax+1)} {
		if err := CheckAccountName(name); ErrorCode(err) != CodeInvalid || ErrorHint(err) == "" {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, email := range []string{"", "you@example.com"} {
		if err := CheckEmail(email); err != nil {
			t.Errorf("%q: %v", email, err)
		}
	}
	for _, email := range []string{"a b", "a\nb", "a\x1b[31m", "\xff", strings.Repeat("x", 300), strings.Repeat("x", 1<<20)} {
		if err := CheckEmail(email); ErrorCode(err) != CodeInvalid || len(err.Error()) > 200 {
			t.Errorf("%.20q: %v", email, err)
		}
	}
}
