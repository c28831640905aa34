package mergelab

import (
	"fmt"
	"strings"

	"cw/internal/cwtest/fakecli"
)

// done is the signal of an agent that is through.
func done(result string) string { return fmt.Sprintf(`{"status":"done","result":%q}`, result) }

// shell does something in the worktree and commits what came of it; done a second
// time it commits nothing.
func shell(name string, lines ...string) fakecli.Script {
	lines = append([]string{"set -e"}, lines...)
	return fakecli.Script{
		Shell:  strings.Join(append(lines, "git add -A", fmt.Sprintf("git diff --cached --quiet || git commit -q -m %q", name)), "\n"),
		Signal: done("did " + name),
	}
}

// writes is an agent that writes one file.
func writes(name, file string, lines ...string) fakecli.Script {
	return shell(name, fmt.Sprintf(`mkdir -p "$(dirname %[1]s)"; printf '%%s\n' '%[2]s' > %[1]s`, file, strings.Join(lines, "' '")))
}

// bringTogether merges the branch of the initiative and keeps both sides of what
// conflicts in a file.
func bringTogether(file string) []string {
	return []string{
		fmt.Sprintf("git merge -q --no-edit %s || true", branch),
		fmt.Sprintf(`sed -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' %[1]s > ../resolved.$$; cat ../resolved.$$ > %[1]s; rm ../resolved.$$`, file),
		`if [ -f "$(git rev-parse --git-path MERGE_HEAD)" ]; then git add -A; git commit -q --no-edit; fi`,
	}
}

// clashes changes the first line of the README when as many others have begun to,
// and brings it together with theirs when it is told that they conflict.
func clashes(name, gate string, n int) fakecli.Script {
	s := shell(name,
		fmt.Sprintf(`mkdir -p %[1]s; touch %[1]s/%[2]s; while [ "$(ls %[1]s | wc -l)" -lt %[3]d ]; do sleep 0.02; done`, gate, name, n),
		fmt.Sprintf(`sed '1s/.*/# Shop: %s/' README.md > ../new.$$; cat ../new.$$ > README.md; rm ../new.$$`, name))
	back := shell(name+" again", bringTogether("README.md")...)
	back.Expect = []string{"it conflicts with what was merged into " + branch, "git merge " + branch, "README.md"}
	s.Next = &back
	return s
}
