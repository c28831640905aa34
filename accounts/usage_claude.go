package accounts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"cw/internal/cw"
)

const (
	// claudeAPI is where claude's endpoints are, and oauthBeta what a request with
	// a token must say (both stand in 2.1.197).
	claudeAPI = "https://api.anthropic.com"
	oauthBeta = "oauth-2025-04-20"
	// claudeVersion is the version of the API that requests name.
	claudeVersion = "2023-06-01"
	// windowsMax, kindMax (bytes) and usedMost (percent) bound what is believed of
	// an answer: it may come from any gateway.
	windowsMax, kindMax, usedMost = 16, 40, 1000
)

// claudeUsage asks for the use of an account's windows.
func (m *Manager) claudeUsage(ctx context.Context, a cw.Account, bearer string) ([]cw.UsageWindow, error) {
	status, body, err := m.askClaude(ctx, a, "/api/oauth/usage", http.Header{"Authorization": {"Bearer " + bearer}, "Anthropic-Beta": {oauthBeta}})
	if err != nil {
		return nil, fmt.Errorf("the usage endpoint cannot be reached: %w", err)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("the usage endpoint answered %d %s", status, errorCode(body))
	}
	return readClaudeUsage(body)
}

func (m *Manager) askClaude(ctx context.Context, a cw.Account, path string, header http.Header) (int, []byte, error) {
	base := claudeAPI
	if a.BaseURL != "" {
		base = strings.TrimRight(a.BaseURL, "/")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return 0, nil, errors.New("the base URL is no address")
	}
	req.Header = header
	req.Header.Set("Accept", "application/json")
	return m.do(req)
}

// readClaudeUsage reads {"five_hour":{"utilization":6.5,"resets_at":"…"},…}:
// percent, and a time of RFC 3339 or null. Fields that are no window, or null,
// are passed over.
func readClaudeUsage(body []byte) ([]cw.UsageWindow, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return nil, errors.New("the usage endpoint answered something else")
	}
	out := []cw.UsageWindow{}
	for _, kind := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[kind]
		var w struct {
			Used     *float64   `json:"utilization"`
			ResetsAt *time.Time `json:"resets_at"`
		}
		if json.Unmarshal(raw, &w) != nil || w.Used == nil || len(kind) > kindMax || len(out) == windowsMax {
			continue
		}
		out = append(out, cw.UsageWindow{Kind: kind, UsedPercent: min(max(0, *w.Used), usedMost), ResetsAt: w.ResetsAt})
	}
	if len(out) == 0 {
		return nil, errors.New("the usage endpoint told no window")
	}
	return out, nil
}
