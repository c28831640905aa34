package worktree

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const zeroOne = "1111111111111111111111111111111111111111"

func TestParseStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []statusEntry
		bad  bool
	}{
		{in: ""},
		{in: "# branch.oid x\x00? a b\nc\x00! d/\x00", want: []statusEntry{{Kind: '?', Path: "a b\nc"}, {Kind: '!', Path: "d/"}}},
		{in: "1 .M N... 100644 100644 100644 " + zeroOne + " " + zeroOne + " two words\x00", want: []statusEntry{{Kind: '1', XY: ".M", Head: zeroOne, Path: "two words"}}},
		{in: "2 R. N... 100644 100644 100644 " + zeroOne + " " + zeroOne + " R100 new\x00old\x00? x\x00", want: []statusEntry{{Kind: '2', XY: "R.", Path: "new", From: "old"}, {Kind: '?', Path: "x"}}},
		{in: "u UU N... 100644 100644 100644 100644 " + strings.Repeat(zeroOne+" ", 3) + "both\x00", want: []statusEntry{{Kind: 'u', XY: "UU", Path: "both"}}},
		{in: "? cut off", bad: true},
		{in: "x y z\x00", bad: true},
		{in: "1 .M N...\x00", bad: true},
		{in: "\x00", bad: true},
		{in: "2 R. N... 1 1 1 a b R100 new\x00", bad: true},
	}
	for _, test := range tests {
		got, err := parseStatus([]byte(test.in))
		if (err != nil) != test.bad {
			t.Errorf("%q: %v", test.in, err)
		}
		if diff := cmp.Diff(test.want, got); !test.bad && diff != "" {
			t.Errorf("%q: %s", test.in, diff)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# x\x00? a\x00! b\x00"))
	f.Add([]byte("1 .M N... 1 1 1 a b c\x002 R. N... 1 1 1 a b R9 n\x00o\x00u UU N... 1 1 1 1 a b c d\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		entries, err := parseStatus(in)
		if err != nil {
			return
		}
		for _, e := range entries {
			if e.Path == "" || strings.Contains(e.Path, "\x00") || !strings.Contains(string(in), e.Path) {
				t.Errorf("%q gave %+v", in, e)
			}
			if (e.Kind == statusRenamed) != (e.From != "") {
				t.Errorf("%q gave %+v", in, e)
			}
		}
		if len(entries) > strings.Count(string(in), "\x00") {
			t.Errorf("%d entries from %q", len(entries), in)
		}
	})
}

func TestParseNumstat(t *testing.T) {
	t.Parallel()
	got, err := parseNumstat([]byte("1\t2\ta\tb\x00-\t-\tbin\x000\t0\t\x00old\x00new\x00"))
	want := []fileStat{{path: "a\tb", additions: 1, deletions: 2}, {path: "bin", binary: true}, {path: "new", from: "old"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"1\t2\ta", "1\t2\x00", "x\t2\ta\x00", "1\t2\t\x00old\x00", "-1\t2\ta\x00", "99999999999999\t0\ta\x00"} {
		if got, err := parseNumstat([]byte(bad)); err == nil {
			t.Errorf("%q gave %+v", bad, got)
		}
	}
}

func FuzzParseNumstat(f *testing.F) {
	f.Add([]byte("1\t2\ta\x00-\t-\tb\x000\t0\t\x00c\x00d\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		files, err := parseNumstat(in)
		for _, s := range files {
			if err == nil && (s.path == "" || s.additions < 0 || s.deletions < 0) {
				t.Errorf("%q gave %+v", in, s)
			}
		}
	})
}

func TestParseLog(t *testing.T) {
	t.Parallel()
	got, err := parseLog([]byte("id\x1f86400\x1fAda <a@b>\x1fsub\x1fject\x00id2\x1f0\x1fBob <>\x1f\x00"))
	if err != nil || len(got) != 2 || got[0].Subject != "sub\x1fject" || got[0].At.Unix() != 86400 || got[1].Subject != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"x", "id\x1fnow\x1fa\x1fb"} {
		if _, err := parseLog([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	f.Add([]byte("id\x1f86400\x1fAda <a@b>\x1fsubject\x00"))
	f.Fuzz(func(_ *testing.T, in []byte) { _, _ = parseLog(in) })
}

func FuzzConfig(f *testing.F) {
	f.Add("user.name\nAda\x00core.bare\x00")
	f.Fuzz(func(t *testing.T, in string) {
		if c := parseConfig(in); c[""] != "" {
			t.Errorf("%q gave a key without a name", in)
		}
		parseCheckouts(in)
		_, _, _ = parseGitVersion, lockInTheWay(in), atLeast(in, MinGit)
	})
}

// TestTrustworthyIndex feeds it indexes that git wrote.
func TestTrustworthyIndex(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			repo := newRepo(t, "--object-format="+format)
			for _, name := range []string{"a", "ab", "abc", "dir/file", "dir/file2", strings.Repeat("long", 60)} {
				write(t, repo, name, name)
			}
			git(t, repo, "update-index", "--index-version", version)
			git(t, repo, "add", ".")
			size := map[string]int{"sha1": 20, "sha256": 32}[format]
			index := func() []byte {
				data, err := os.ReadFile(filepath.Join(repo, ".git/index"))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			good := index()
			if !trustworthyIndex(good, size) {
				t.Errorf("%s version %s: refused", format, version)
			}
			write(t, repo, "later", "x")
			git(t, repo, "add", "--intent-to-add", "later") // version 3 at least
			if data := index(); !trustworthyIndex(data, size) {
				t.Errorf("%s version %d: refused", format, binary.BigEndian.Uint32(data[4:]))
			}
			for _, how := range []string{"--assume-unchanged", "--skip-worktree"} {
				git(t, repo, "update-index", how, "dir/file")
				if trustworthyIndex(index(), size) {
					t.Errorf("%s version %s: %s is not seen", format, version, how)
				}
				git(t, repo, "update-index", strings.Replace(how, "--", "--no-", 1), "dir/file")
			}
			git(t, repo, "update-index", "--split-index")
			if trustworthyIndex(index(), size) {
				t.Errorf("%s version %s: a split index is accepted", format, version)
			}
			for cut := range len(good) / 2 {
				if trustworthyIndex(good[:cut], size) {
					t.Errorf("%s version %s: accepted when cut at %d", format, version, cut)
					break
				}
			}
		}
	}
}

func FuzzTrustworthyIndex(f *testing.F) {
	entry := append(make([]byte, 60), 0, 1, 'a', 0, 0, 0, 0, 0, 0, 0, 0, 0)
	f.Add(append(append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01"), entry...), make([]byte, 20)...), 20)
	f.Add([]byte("DIRC\x00\x00\x00\x04\xff\xff\xff\xff"), 32)
	f.Fuzz(func(_ *testing.T, in []byte, size int) {
		if size == 20 || size == 32 {
			trustworthyIndex(in, size)
		}
	})
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		want bool
	}{
		{"agent", true}, {"Agent", true}, {"agent/Brave-Otter", true}, {"agent/brave-otter/x", true},
		{"agent/brave", false}, {"agents", false}, {"agent/brave-otters", false}, {"main", false},
	} {
		if got := blocks(test.name, "agent/brave-otter"); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestWriteConfigKey(t *testing.T) {
	t.Parallel()
	repo := newRepo(t)
	want := map[string]string{
		"user.name": "a \"b\" \\ c;#\td\ne ", "submodule.libs/a.b \"c\"\\.url": "x", "core.eol": "lf", "user.empty": "",
	}
	var b strings.Builder
	for key, value := range want {
		writeConfigKey(&b, key, value)
	}
	write(t, repo, "config", b.String())
	got := parseConfig(git(t, repo, "config", "-f", "config", "--list", "-z"))
	if diff := cmp.Diff(userConfig(want), got); diff != "" {
		t.Error(diff)
	}
}
