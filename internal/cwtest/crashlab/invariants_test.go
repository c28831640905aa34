package crashlab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"cw/internal/cw"
	"cw/internal/cwtest/lab"
)

// invariant is something that holds whenever nothing is under way any more,
// whatever was killed before.
type invariant struct {
	name  string
	holds string                     // in words
	judge func(s *scene, v *verdict) // looks at everything
}

// problem is a broken invariant.
type problem struct{ invariant, text string }

func (p problem) String() string { return p.invariant + ": " + p.text }

// verdict collects what an invariant finds.
type verdict struct {
	name    string
	checked int
	broken  []problem
}

// check notes one look; without ok it is a problem.
func (v *verdict) check(ok bool, format string, args ...any) {
	v.checked++
	if !ok {
		v.broken = append(v.broken, problem{v.name, fmt.Sprintf(format, args...)})
	}
}

func invariants() []invariant {
	return []invariant{
		{"I1", "every byte of output is stored exactly once and in order", wholeOutput},
		{"I2", "a run was started at most once; a run that is over has no process, one that lives has one supervisor", oneTree},
		{"I3", "every agent is in a definite state with its reason, and no operation is left open", definite},
		{"I4", "every file that an agent or a person made there is in its worktree, under a ref or in the trash", nothingLost},
		{"I5", "what is the user's in the repository is as it was", untouched},
		{"I6", "both databases are sound, and belong together", sound},
		{"I7", "no secret is in any file of the home", noSecrets},
		{"I8", "what was acknowledged reaches the agent exactly once; a question has one answer", delivered},
		{"I9", "no lock of git is left, and no mirror or worktree half made or half removed", noDebris},
		{"I10", "nothing of ours is left in the process table", noZombies},
		{"I11", "a question of an agent is kept once and given to who is asked alone; it has one answer, which whoever asked gets, or a reason why there is none", talked},
	}
}

// judge looks at all invariants and counts the looks.
func (s *scene) judge() (broken []problem) {
	for _, inv := range invariants() {
		v := &verdict{name: inv.name}
		inv.judge(s, v)
		if !s.uncounted {
			results.looked(inv.name, v.checked, len(v.broken))
		}
		broken = append(broken, v.broken...)
	}
	return broken
}

func wholeOutput(s *scene, v *verdict) {
	for _, a := range s.views {
		for _, r := range a.Runs {
			stored, gap := s.stored(a, r.SessionNumber)
			v.check(gap == "", "%s, run %d: %s", a.Alias, r.SessionNumber, gap)
			if book, ok := s.books[string(r.ID)]; ok {
				v.check(book.Holds(stored), "%s, run %d: %d bytes are stored and are not what was written (%d bytes)", a.Alias, r.SessionNumber, len(stored), book.Wrote())
			}
			if file := raw(r); file != nil && r.EndedAt != nil {
				file = s.masked(file)
				v.check(bytes.Equal(file, stored), "%s, run %d: %d bytes are stored, %d are in the raw file, alike up to %d", a.Alias, r.SessionNumber, len(stored), len(file), commonPrefix(file, stored))
			}
		}
	}
}

// masked is raw output as it is to be stored: every secret that the CLI printed
// is a mask of its length.
func (s *scene) masked(raw []byte) []byte {
	if !s.tells {
		return raw
	}
	return regexp.MustCompile(regexp.QuoteMeta(s.canary)+"|"+runToken).ReplaceAllFunc(raw, func(secret []byte) []byte {
		return bytes.Repeat([]byte("*"), len(secret))
	})
}

// stored is the output of one run as the program gives it.
func (s *scene) stored(a cw.AgentView, session int) (out []byte, gap string) {
	for c, err := range s.lab.Client().Output(s.lab.T.Context(), string(a.ID), cw.OutputQuery{Session: session, Only: true, Until: cw.UntilNow}) {
		if err != nil {
			s.lab.T.Fatalf("read the output of %s: %v", a.Alias, err)
		}
		if c.Offset != int64(len(out)) {
			return out, fmt.Sprintf("a chunk begins at %d, the one before ended at %d", c.Offset, len(out))
		}
		out = append(out, c.Bytes...)
	}
	return out, ""
}

func oneTree(s *scene, v *verdict) {
	known := map[string]cw.Run{}
	for _, a := range s.views {
		for _, r := range a.Runs {
			known[string(r.ID)] = r
		}
	}
	for run, book := range s.books {
		// One that was killed may have opened its book and not yet written in it.
		v.check(book.Starts() == 1 || book.Starts() == 0 && s.killed[run] != "", "run %s was started %d times", run, book.Starts())
		v.check(known[run].ID != "", "run %s was started and is not known", run)
	}
	shims := map[string]int{}
	for _, p := range s.processes {
		r := known[p.Run]
		v.check(r.ID != "" && r.EndedAt == nil, "left behind: %d %s, of the run %s that is over or unknown", p.PID, p.Command, p.Run)
		if p.Shim {
			shims[p.Run]++
		}
	}
	for id, r := range known {
		v.check(shims[id] <= 1, "run %d has %d supervisors", r.SessionNumber, shims[id])
	}
}

func definite(s *scene, v *verdict) {
	for _, a := range s.views {
		v.check(slices.Contains(cw.AgentStatuses(), a.Status), "%s is %q", a.Alias, a.Status)
		v.check(!a.Status.AtRest() || atRest(a), "%s is %s, and something is still to be done: settling %v, %d questions, %d queued", a.Alias, a.Status, a.Settling, len(a.PendingQuestions), a.QueuedMessages)
		v.check(a.Status != cw.StatusCrashed || a.Reason != "" && a.Error != "", "the crash of %s is not explained: %s %q", a.Alias, a.Reason, a.Error)
		v.check(len(a.Runs) == a.SessionNumber, "%s has %d runs and is at session %d", a.Alias, len(a.Runs), a.SessionNumber)
		for i, r := range a.Runs {
			v.check(r.SessionNumber == i+1, "run %d of %s has the number %d", i+1, a.Alias, r.SessionNumber)
			v.check(a.Status.Alive() && i == len(a.Runs)-1 || r.EndedAt != nil && r.Outcome != "", "run %d of %s has no end, and the agent is %s", r.SessionNumber, a.Alias, a.Status)
		}
	}
	open := s.ask("cw.db", `SELECT o.kind || ' ' || o.step FROM ops o JOIN agents a ON a.id = o.agent_id
		WHERE o.status IN ('intended', 'acting') AND a.status NOT IN ('pending', 'starting', 'running')`)
	v.check(len(open) == 0, "operations of agents at rest are open: %q", open)
}

// nothingLost looks for every file that a run noted in its book, or the test
// put beside it. A file that a
// later run of the agent wrote anew counts with its last content.
func nothingLost(s *scene, v *verdict) {
	held := s.blobs()
	for _, a := range s.views {
		last := map[string]string{}
		for _, r := range a.Runs {
			maps.Copy(last, s.books[string(r.ID)].Made())
		}
		for file, blob := range s.put {
			if rel, err := filepath.Rel(a.AgentCwd, file); err == nil && filepath.IsLocal(rel) {
				last[rel] = blob
			}
		}
		for path, blob := range last {
			found := held[blob] || slices.ContainsFunc(s.places(a), func(dir string) bool {
				name := filepath.Join(dir, path)
				info, err := os.Lstat(name)
				return err == nil && info.Mode().IsRegular() && lab.Git(s.lab.T, s.lab.Repo, "hash-object", "--no-filters", name) == blob
			})
			v.check(found, "%s made %s, and it is nowhere", a.Alias, path)
		}
	}
}

func untouched(s *scene, v *verdict) {
	now := s.belongings()
	for what, before := range s.mine {
		v.check(now[what] == before, "%s was %q and is %q", what, before, now[what])
	}
	for what := range now {
		_, was := s.mine[what]
		v.check(was, "%s was not there before", what)
	}
}

func sound(s *scene, v *verdict) {
	for _, db := range []string{"cw.db", "log.db"} {
		got := s.ask(db, "SELECT integrity_check FROM pragma_integrity_check")
		v.check(slices.Equal(got, []string{"ok"}), "%s: integrity_check: %q", db, got)
		got = s.ask(db, `SELECT "table" || ' → ' || parent FROM pragma_foreign_key_check`)
		v.check(len(got) == 0, "%s: foreign_key_check: %q", db, got)
	}
	known := s.ask("cw.db", "SELECT id FROM agents")
	for _, id := range s.ask("log.db", "SELECT DISTINCT agent_id FROM agent_log_chunks") {
		v.check(slices.Contains(known, id), "output of the unknown agent %s is stored", id)
	}
}

// runToken matches the token of a run.
const runToken = `cwa_[a-z2-7]{40,}`

// noSecrets looks into every file of the home for the canary and for tokens of
// runs. Worktrees are the agents' own.
func noSecrets(s *scene, v *verdict) {
	token := regexp.MustCompile(runToken)
	s.walk(func(name string, d fs.DirEntry) {
		if s.tells && (d.Name() == "output.jsonl" || strings.Contains(name, "/output/")) {
			return // what the CLI itself wrote is there as it wrote it
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return // it went meanwhile
		}
		v.check(!bytes.Contains(data, []byte(s.canary)), "the secret of a caller is in %s", name)
		v.check(!token.Match(data), "the token of a run is in %s", name)
	})
}

// walk visits every plain file of the home that is no agent's.
func (s *scene) walk(visit func(name string, d fs.DirEntry)) {
	skip := []string{filepath.Join(string(s.lab.Home), ".cw-worktrees"), s.lab.Home.Trash(), s.lab.Home.Bin()}
	_ = filepath.WalkDir(string(s.lab.Home), func(name string, d fs.DirEntry, err error) error { // what goes meanwhile is not there
		switch {
		case err != nil:
			return nil
		case d.IsDir() && slices.Contains(skip, name):
			return fs.SkipDir
		case d.Type().IsRegular():
			visit(name, d)
		}
		return nil
	})
}

// delivered holds what people were promised against what the CLIs found in
// their prompts. A run that began a new session is told again what happened
// before, and one that was killed at its start may have read nothing.
func delivered(s *scene, v *verdict) {
	for id, answer := range s.given {
		i := slices.IndexFunc(s.questions, func(q cw.QuestionView) bool { return q.ID == id })
		v.check(i >= 0 && s.questions[i].Status == cw.QuestionAnswered && s.questions[i].Answer == answer, "question %s was answered with %q, and that is not stored", id, answer)
	}
	for _, p := range s.promised {
		i := slices.IndexFunc(s.views, func(a cw.AgentView) bool { return a.ID == p.agent })
		v.check(i >= 0, "the agent %s that was told %s is not known", p.agent, p.mark)
		if i < 0 {
			continue
		}
		times, again, hurt := 0, 0, false
		for _, r := range s.views[i].Runs {
			book := s.books[string(r.ID)]
			n := 0
			for _, said := range book.Start().Says {
				if said == p.mark {
					n++
				}
			}
			switch {
			case book.Gone(): // it read nothing
			case r.Fresh:
				again += n
			default:
				times += n
			}
			hurt = hurt || s.killed[string(r.ID)] != "" && book.Starts() == 0
		}
		waits := s.views[i].QueuedMessages > 0 || s.views[i].DeletedAt != nil || s.views[i].Status == cw.StatusStopped || s.views[i].Status == cw.StatusCrashed
		v.check(times <= 1, "%s was told %s %d times", s.views[i].Alias, p.mark, times)
		v.check(times+again > 0 || hurt || waits, "%s was never told %s", s.views[i].Alias, p.mark)
	}
}

// noDebris looks for locks of git, and for mirrors and worktrees that are half
// made or half removed. Small files that a killed write left under another name
// are in nobody's way.
func noDebris(s *scene, v *verdict) {
	s.walk(func(name string, d fs.DirEntry) {
		inGit := strings.Contains(name, ".git"+string(filepath.Separator))
		v.check(!inGit || !strings.HasSuffix(name, ".lock") || s.ofKilled(name), "git's lock %s is left", name)
	})
	for _, half := range []string{"repos/*.new", ".cw-worktrees/agent/.removing-*", "trash/.*"} {
		left, _ := filepath.Glob(filepath.Join(string(s.lab.Home), half)) // the patterns are well formed
		v.check(len(left) == 0, "half made or half removed: %q", left)
	}
	locks, _ := filepath.Glob(filepath.Join(s.lab.Repo, ".git", "*.lock")) // the pattern is well formed
	v.check(len(locks) == 0, "left in the user's repository: %q", locks)
}

// ofKilled tells whether a lock in a mirror is that of an agent whose process
// the test killed: its own git may have died with it in the middle of a commit.
func (s *scene) ofKilled(lock string) bool {
	return slices.ContainsFunc(s.views, func(a cw.AgentView) bool {
		own := strings.HasSuffix(lock, "/refs/heads/"+a.Branch+".lock") || strings.Contains(lock, "/worktrees/"+a.Alias+"/")
		return own && slices.ContainsFunc(a.Runs, func(r cw.Run) bool { return s.killed[string(r.ID)] != "" })
	})
}

func noZombies(s *scene, v *verdict) {
	zombies := lab.Zombies(string(s.lab.Home))
	v.check(len(zombies) == 0, "zombies: %v", zombies)
	daemons := 0
	for _, p := range lab.Processes(string(s.lab.Home)) {
		if strings.HasSuffix(p.Command, " serve") {
			daemons++
		}
	}
	v.check(daemons <= 1, "%d daemons run", daemons)
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// asJSON is a value for people to compare.
func asJSON(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}
