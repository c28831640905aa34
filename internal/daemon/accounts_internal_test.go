package daemon

import (
	"testing"

	"cw/internal/cw"
	"cw/internal/store"
	"cw/providers"
)

// TestAccountDefaultByName: the account default of every provider can be named
// before anybody used it, by faces, the engine and budgets; of what is no
// provider there is none.
func TestAccountDefaultByName(t *testing.T) {
	t.Parallel()
	presets, problems := providers.Load(t.TempDir())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	rows := func(t *testing.T) accountStore {
		t.Helper()
		db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Version: "v0.1.0-test"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return accountStore{db, accountProviders{presets}}
	}
	for ref, want := range map[string]cw.AccountID{
		"claude/default": "default-claude", "default-claude": "default-claude", "codex/default": "default-codex",
		"claude-code/default": "", "nobody/default": "", "default-nobody": "", "default": "", "": "", "work": "",
	} {
		code := cw.Code("")
		if want == "" {
			code = cw.CodeNotFound
		}
		if a, err := rows(t).AccountByRef(t.Context(), ref); a.ID != want || cw.ErrorCode(err) != code {
			t.Errorf("account %q is %q, %v", ref, a.ID, err)
		}
		if b, err := rows(t).SetBudget(t.Context(), cw.BudgetAccount, ref, 5); b.ScopeID != string(want) || cw.ErrorCode(err) != code {
			t.Errorf("budget of %q is of %q, %v", ref, b.ScopeID, err)
		}
	}
	if _, err := rows(t).SetBudget(t.Context(), cw.BudgetAccount, "claude/default", -1); cw.ErrorCode(err) != cw.CodeInvalid {
		t.Error(err)
	}
}
