package worktree

import (
	"fmt"
	"strings"

	"cw/internal/cw"
)

// Every failure of git is classified here, by what git said (in English, for
// LC_ALL=C): which repository it is about, what is wrong, and what to do. Only
// what a person asked for wrongly is CodeInvalid; a damaged repository or a full
// disk is CodeFailed. None is CodeInternal.

// fault is one kind of failure.
type fault struct {
	says []string // any of them is in what git said, in small letters
	code cw.Code
	is   string // what is wrong; %[1]s is the repository, %[2]s what git said
	do   string // what to do; %[1]s is the repository, ready for a shell
}

// faults lists the kinds; the first that fits counts. What is about the machine
// comes first: it makes git say other things, too.
func faults() []fault {
	return []fault{
		{[]string{"no space left on device", "disk quota exceeded"}, cw.CodeFailed,
			"the disk of %[1]s is full", "free some space, then try again: df %[1]s"},
		{[]string{"read-only file system"}, cw.CodeFailed,
			"%[1]s is on a file system that cannot be written to", "see how it is mounted: df %[1]s"},
		{[]string{"too many open files", "cannot allocate memory", "out of memory", "resource temporarily unavailable", "cannot fork"}, cw.CodeFailed,
			"the machine has no more room for git in %[1]s (%[2]s)", "end something else, or raise the limit (ulimit -a), then try again"},
		{[]string{"input/output error", "stale file handle"}, cw.CodeFailed,
			"the disk of %[1]s cannot be read (%[2]s)", "check the disk, then try again"},
		{[]string{"dubious ownership", "unsafe repository"}, cw.CodeInvalid,
			"%[1]s belongs to another user, so git refuses it", "if you trust it: git config --global --add safe.directory %[1]s"},
		{[]string{"cannot use bare repository"}, cw.CodeInvalid,
			"%[1]s is a bare repository", "give a checkout of it: git -C %[1]s worktree add ../checkout"},
		{[]string{"unknown repository extension", "expected git repo version", "unknown index entry format", "requires a newer"}, cw.CodeInvalid,
			"this git is too old for %[1]s (%[2]s)", "update git; see: git --version"},
		{[]string{"bad config", "bad numeric config value", "bad boolean config value", "unable to parse config", "invalid config", "unable to access config", "could not expand include path", "exceeded maximum include depth"}, cw.CodeInvalid,
			"the git configuration of %[1]s cannot be read (%[2]s)", "check the files that this names: git -C %[1]s config --show-origin --list"},
		{[]string{"external filter", "smudge filter", "clean filter", "filter-process", "git-lfs"}, cw.CodeFailed,
			"a filter of %[1]s does not work (%[2]s)", "install the program that it names where the daemon finds it, then from a shell that has it: cw restart"},
		{[]string{"not a git repository"}, cw.CodeInvalid,
			"%[1]s is not in a git repository", "go into one, or make one: git init && git add . && git commit -m start"},
		{[]string{".lock': file exists", "another git process seems to be running"}, cw.CodeFailed,
			"another git is at work in %[1]s, or one that was ended left a lock (%[2]s)", "wait for it, or remove the file when no git runs"},
		{[]string{"unable to normalize alternate", "info/alternates", "alternate object path"}, cw.CodeFailed,
			"%[1]s borrows objects from a repository that is gone (%[2]s)", "bring that back, or see .git/objects/info/alternates, then: git -C %[1]s fsck --connectivity-only"},
		{[]string{"promisor", "partial clone"}, cw.CodeFailed,
			"%[1]s is a partial clone: some of its files are only at the remote (%[2]s)", "fetch them: git -C %[1]s fetch --refetch --no-filter"},
		{[]string{"index file corrupt", "index file smaller", "bad index file", "bad signature 0x", "unordered stage entries", "bad index version", "index uses"}, cw.CodeFailed,
			"the index of %[1]s is damaged (%[2]s)", "make it again, your files stay: git -C %[1]s read-tree --reset HEAD"},
		{[]string{"packed-refs"}, cw.CodeFailed,
			"the file packed-refs of %[1]s is damaged (%[2]s)", "mend it by hand: every line but comments is an id and a name; see: git -C %[1]s fsck"},
		{[]string{"cannot lock ref", "unable to resolve reference", "cannot update ref", "broken ref", "bad ref", "refusing to update ref with bad name", "unable to update local ref", "cannot create '"}, cw.CodeFailed,
			"a reference of %[1]s cannot be read or made (%[2]s)", "see which: git -C %[1]s fsck; remove it: git -C %[1]s update-ref -d NAME"},
		{[]string{"unable to read", "cannot read object", "bad object", "missing blob", "missing tree", "missing commit", "missing object", "could not read", "is empty", "is corrupt", "inflate", "corrupt loose object", "loose object", "index-pack failed", "unpack-objects", "bad pack", "packfile", "pack has", "did not send all necessary objects", "possible repository corruption", "unresolved delta", "failed to traverse parents", "revision walk setup failed", "cannot parse", "unable to parse", "bad tree", "bad revision", "garbage at end", "unknown object type", "hash mismatch", "sha1 mismatch", "did not receive expected object", "failed to read object", "unable to unpack", "bogus", "invalid object"}, cw.CodeFailed,
			"%[1]s is damaged: objects are missing or cannot be read (%[2]s)", "see which: git -C %[1]s fsck --full; git fetch brings back what a remote has"},
		{[]string{"shallow"}, cw.CodeFailed,
			"the shallow history of %[1]s cannot be used (%[2]s)", "fetch all of it: git -C %[1]s fetch --unshallow"},
		{[]string{"invalid path", "file name too long", "illegal byte sequence", "unable to create file", "cannot create directory", "unable to checkout", "unable to write file"}, cw.CodeFailed,
			"files of %[1]s cannot be written here (%[2]s)", "check the names of the files and what else is at their place"},
		{[]string{"permission denied", "operation not permitted"}, cw.CodeInvalid,
			"%[1]s cannot be read", "check its permissions (git says: %[2]s)"},
		{[]string{"unable to chdir", "cannot chdir", "no such file or directory", "not a directory", "must be run in a work tree", "too many levels of symbolic links"}, cw.CodeFailed,
			"files of %[1]s are not where git looks for them (%[2]s)", "was it moved? see: git -C %[1]s status"},
	}
}

// saidMax is how much of git's words stands in a message.
const saidMax = 300

// explainGit says what a failure of git means in a repository.
func explainGit(g *gitError, where string) *cw.Error {
	text := g.stderr
	if text == "" {
		text = fmt.Sprint(g.err)
	}
	all := strings.ToLower(text)
	for _, f := range faults() {
		for _, words := range f.says {
			if strings.Contains(all, words) {
				said := lineWith(text, words)
				return cw.Errorf(f.code, "%s", fill(f.is, where, said)).WithHint("%s", fill(f.do, cw.ShellWord(where), said))
			}
		}
	}
	return cw.Errorf(cw.CodeFailed, "git %s failed in %s: %s", g.args[0], where, saidInOneLine(text)).
		WithHint("see whether git itself can work there: git -C %s fsck", cw.ShellWord(where))
}

// fill puts the repository and git's words into a text.
func fill(text, where, said string) string {
	return strings.NewReplacer("%[1]s", where, "%[2]s", said).Replace(text)
}

// lineWith gives the line of git's words that holds some of them.
func lineWith(text, words string) string {
	for row := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(row), words) {
			return saidInOneLine(row)
		}
	}
	return saidInOneLine(text)
}

// saidInOneLine gives the line by which git says what ended it, fit for a
// message.
func saidInOneLine(stderr string) string {
	said := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, userInfo().ReplaceAllString(firstFatal(stderr), "$1"))
	if len(said) > saidMax {
		said = strings.ToValidUTF8(said[:saidMax], "") + "…"
	}
	return strings.TrimSpace(said)
}
