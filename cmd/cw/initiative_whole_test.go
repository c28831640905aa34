package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// step is one command line of a session with the whole program. $NAME in it is
// what an earlier step has kept.
type step struct {
	args  string // words are separated by spaces; _ in a word is a space
	code  int
	says  []string // in stdout or stderr
	keep  string   // keeps the id of the JSON answer under this name
	stdin string
}

// TestInitiativeSession is a whole session with initiatives: from nothing to
// phases and tasks, everything that is refused on the way, and again with the
// next daemon.
func TestInitiativeSession(t *testing.T) {
	t.Parallel()
	env, temp := realEnv(t)
	home := cw.Home(filepath.Join(temp, "home"))
	env = append(env, "CW_HOME="+string(home))
	t.Cleanup(func() { killDaemon(t, home) })
	names := []string{"NONE", "aaaaaaaaaaaa"}
	for _, name := range []string{"shop", "docs"} {
		repo := filepath.Join(temp, name)
		lab.NewRepo(t, repo)
		names = append(names, strings.ToUpper(name), repo)
	}
	if err := os.WriteFile(filepath.Join(temp, "rounding.md"), []byte("# Rounding\n\nTo whole cents.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	names = append(names, "FILE", filepath.Join(temp, "rounding.md"))
	play := func(steps []step) {
		t.Helper()
		for _, s := range steps {
			var pairs []string
			for i := 0; i < len(names); i += 2 {
				pairs = append(pairs, "$"+names[i], names[i+1])
			}
			fill := strings.NewReplacer(pairs...)
			var args []string
			for word := range strings.FieldsSeq(s.args) {
				args = append(args, fill.Replace(strings.ReplaceAll(word, "_", " ")))
			}
			if s.keep != "" {
				args = append(args, "--json")
			}
			out, errOut := &bytes.Buffer{}, &lockedBuffer{}
			code := run(t.Context(), args, streams{in: strings.NewReader(s.stdin), out: out, err: errOut, width: func() int { return 80 }}, env)
			shown := out.String() + errOut.String()
			if code != s.code {
				t.Fatalf("cw %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, s.code, shown)
			}
			for _, says := range s.says {
				if !strings.Contains(shown, fill.Replace(says)) {
					t.Errorf("cw %s does not say %q:\n%s", strings.Join(args, " "), fill.Replace(says), shown)
				}
			}
			if s.keep == "" {
				continue
			}
			var made struct{ ID string }
			if err := json.Unmarshal(out.Bytes(), &made); err != nil || made.ID == "" {
				t.Fatalf("cw %s: %v\n%s", strings.Join(args, " "), err, shown)
			}
			names = append(names, s.keep, made.ID)
		}
	}

	play([]step{
		{args: "initiative list", says: []string{"no initiatives yet"}},
		{args: "dispatch pause", says: []string{"paused"}}, // so that nothing is started
		{args: "project add $SHOP"},
		{args: "project add $DOCS"},
		{args: "initiative create Spring_sale --project shop --project docs --goal -", stdin: "Prices can be lowered\n", says: []string{"spring-sale", "cw/spring-sale", "shop, docs"}},
		{args: "initiative create Spring_sale", says: []string{"spring-sale-2"}},
		{args: "initiative create x --project shp", code: 3, says: []string{`no project "shp"`}},
		{args: "initiative create _", code: 2},
		{args: "initiative show sprng-sale", code: 3, says: []string{"did you mean spring-sale"}},
		{args: "initiative show nothing-like-it --json", code: 3, says: []string{`{"error":{"code":"not_found"`}},

		{args: "page create spring-sale Rounding --body $FILE", keep: "ROUNDING"},
		{args: "page create spring-sale Cents --parent $ROUNDING", keep: "CENTS"},
		{args: "page list spring-sale", says: []string{"Spring sale", "└─ Rounding", "   └─ Cents"}},
		{args: "page show $ROUNDING --raw", says: []string{"# Rounding\n\nTo whole cents.\n"}},
		{args: "page edit $ROUNDING --body - --revision 1", stdin: "To half cents.\n", says: []string{"revision 2"}},
		{args: "page edit $ROUNDING --body $FILE --revision 1", code: 4, says: []string{"revision 1", "revision 2", "cw page show $ROUNDING"}},
		{args: "page show $ROUNDING --raw", says: []string{"To half cents."}},
		{args: "page move $ROUNDING --parent $CENTS", code: 4, says: []string{"below itself", "→"}},
		{args: "page remove $ROUNDING", code: 4, says: []string{"pages below it"}},
		{args: "page show $NONE", code: 3, says: []string{"no page"}},
		{args: "page show $ROUNDINGx", code: 3, says: []string{"did you mean $ROUNDING?"}},

		{args: "phase create spring-sale Price_rules --body $FILE", keep: "RULES"},
		{args: "phase create spring-sale Shop_window --depends-on $RULES", keep: "WINDOW"},
		{args: "phase create spring-sale Later --depends-on $WINDOW", keep: "LATER"},
		{args: "phase edit $RULES --depends-on $LATER", code: 2, says: []string{"circle", `"Price rules" ($RULES) → `, "($WINDOW)", "($LATER)"}},
		{args: "phase edit $RULES --depends-on $RULES", code: 2, says: []string{"cannot depend on itself"}},
		{args: "phase edit $RULES --depends-on $NONE", code: 2, says: []string{"no such phase"}},
		{args: "phase edit $LATER --status running", code: 2},
		{args: "phase archive $WINDOW", code: 4, says: []string{"Later"}},

		{args: "task create --phase $RULES Lower_a_price --path prices/** --path *.md --check go_test_./prices_passes --size small", keep: "LOWER"},
		{args: "task create --phase $RULES Choose --type checkpoint:decision --depends-on $LOWER --priority high --body -", stdin: "Which?\n", keep: "CHOOSE"},
		{args: "task create --phase $WINDOW Show_it", keep: "SHOWIT"},
		{args: "task create --phase $NONE x", code: 3, says: []string{"no phase"}},
		{args: "task create x", code: 2, says: []string{"--phase"}},
		{args: "task create --phase $RULES x --type manul", code: 2, says: []string{"no type of a task"}},
		{args: "task edit $LOWER --depends-on $CHOOSE", code: 2, says: []string{"circle", "($LOWER) → ", "($CHOOSE)"}},
		{args: "task edit $LOWER --depends-on $RULES", code: 2},
		{args: "task show $CHOOSE", says: []string{"Which?", "checkpoint:decision", "$LOWER"}},
		{args: "task list spring-sale --status pending", says: []string{"Lower a price", "Choose", "Show it"}},
		{args: "task show $LOWERx", code: 3, says: []string{"did you mean $LOWER?"}},
		{args: "phase approve $RULESx", code: 3, says: []string{"did you mean $RULES?"}},
		{args: "phase edit $WINDOW --depends-on $RULESx", code: 2, says: []string{"did you mean", "($RULES)"}},
		{args: "task done $LOWER", says: []string{"done"}},
		{args: "task cancel $LOWER", code: 4, says: []string{"done", "cannot become cancelled"}},
		{args: "task cancel $SHOWIT", says: []string{"cancelled"}},
		{args: "task cancel $SHOWIT --undo", says: []string{"pending"}},

		{args: "proposal list", says: []string{"no proposal waits"}},
		{args: "proposal accept $NONE", code: 3},
		{args: "proposal accept", code: 2},
		{args: "proposal accept --all spring-sale", says: []string{"nothing is open"}},
		{args: "proposal accept --agent nobody", code: 3},

		{args: "initiative archive spring-sale-2", says: []string{"archived"}},
		{args: "phase create spring-sale-2 x", code: 4, says: []string{"archived", "--undo"}},
		{args: "page create spring-sale-2 x", code: 4, says: []string{"archived"}},
		{args: "initiative edit spring-sale-2 --name x", code: 4},
		{args: "initiative list --archived", says: []string{"spring-sale-2"}},
		{args: "initiative archive spring-sale-2 --undo", says: []string{"active"}},
		{args: "initiative edit spring-sale --name Summer_sale --no-projects", says: []string{"Summer sale", "spring-sale"}},
		{args: "task edit $LOWER --phase $NONE", code: 3},
	})
	// The decision is reached, which people are told also during a pause: in both
	// of the lists that have it.
	before := shown(t, env)
	for end := time.Now().Add(time.Minute); strings.Count(before, `"status": "ready"`) < 2; before = shown(t, env) {
		if time.Now().After(end) {
			t.Fatalf("the decision is not reached:\n%s", before)
		}
	}
	play([]step{
		{args: "stop", says: []string{"stopped"}},
		{args: "initiative show spring-sale", says: []string{"Summer sale", "├─ Lower a price", "└─ Choose", "after Price rules"}}, // starts the next daemon
		{args: "initiative show spring-sale --graph", says: []string{"graph TD", "$RULES --> $WINDOW", "$LOWER --> $CHOOSE", `$LOWER["Lower a price · done"]`}},
		{args: "events --initiative $NONE"},
	})
	if after := shown(t, env); after != before {
		t.Errorf("the next daemon shows\n%s\nthe one before\n%s", after, before)
	}
	play([]step{{args: "stop", says: []string{"stopped"}}})
}

// shown is everything that is told of the initiative of the session.
func shown(t *testing.T, env []string) string {
	t.Helper()
	var all strings.Builder
	for _, args := range [][]string{
		{"initiative", "show", "spring-sale", "--json"}, {"phase", "list", "spring-sale", "--json"}, {"task", "list", "spring-sale", "--json"},
	} {
		out, stderr, code := cli(t, env, args...)
		if code != 0 {
			t.Fatalf("cw %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
		}
		oneValue(t, []byte(out))
		all.WriteString(out)
	}
	return all.String()
}
