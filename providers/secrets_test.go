package providers

import (
	"slices"
	"testing"
)

func TestSecrets(t *testing.T) {
	env := []string{
		"ANTHROPIC_API_KEY=key-of-the-user", "CLAUDE_CODE_OAUTH_TOKEN=token-of-the-user",
		"ANTHROPIC_CUSTOM_HEADERS=X-Gateway: gateway-secret\nAuthorization: Bearer bearer-secret",
		"CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_BASE_URL=https://gateway.example.com", "CLAUDE_CONFIG_DIR=/home/user/.claude",
		"AWS_SECRET_ACCESS_KEY=amazon-secret", "AWS_REGION=eu-central-1", "AWS_WEB_IDENTITY_TOKEN_FILE=/home/user/token", "GOOGLE_APPLICATION_CREDENTIALS=/home/user/google.json", "GIT_CONFIG_KEY_0=commit.gpgSign", "OTHER_TOKEN=not-passed-on",
		"HTTPS_PROXY=http://user:proxy-password@proxy.example.com:3128", "OPENAI_API_KEY=", "PATH=/usr/bin",
	}
	presets, problems := Load("")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := presets.Get("claude")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Bearer bearer-secret", "X-Gateway: gateway-secret\nAuthorization: Bearer bearer-secret", "amazon-secret", "bearer-secret",
		"gateway-secret", "key-of-the-user", "proxy-password", "token-of-the-user",
	}
	if got := p.Secrets(env); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := presets.Secrets(env); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// A key is one whatever its name.
	own := Preset{Account: Account{Key: "SHOP"}}
	if got := own.Secrets([]string{"SHOP=my-own-key"}); !slices.Equal(got, []string{"my-own-key"}) {
		t.Errorf("%q", got)
	}
}
