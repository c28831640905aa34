package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

const token = `sk-ant-oat01-Zx9_k/pQ+4"v=&ü7`

func TestMaskCoversEncodings(t *testing.T) {
	set := NewSet()
	set.Put("a", token)
	inJSON, _ := json.Marshal(map[string]string{"t": "x " + token + " y"})
	nested, _ := json.Marshal(string(inJSON))
	for what, text := range map[string]string{
		"plain":       "a " + token + " b",
		"twice":       token + token,
		"hex":         "h=" + hex.EncodeToString([]byte(token)),
		"HEX":         strings.ToUpper(hex.EncodeToString([]byte(token))),
		"query":       "?t=" + url.QueryEscape(token) + "&x",
		"path":        "/" + url.PathEscape(token),
		"json":        string(inJSON),
		"json twice":  string(nested),
		"php":         strings.ReplaceAll(quoted(token, false), "/", `\/`),
		"lower query": lowerDigits(url.QueryEscape(token)),
		"wide":        wide(token),
		"escaped":     escapedForms(token)[0],
		"ESCAPED":     escapedForms(token)[1],
		"twice esc.":  escapedForms(token)[2],
		"octets":      escapedForms(token)[4],
	} {
		got := set.MaskString(text)
		if len(got) != len(text) {
			t.Errorf("%s: %d bytes became %d", what, len(text), len(got))
		}
		for _, f := range forms(token) {
			if strings.Contains(got, f) {
				t.Errorf("%s: %q holds %q", what, got, f)
			}
		}
		if !strings.Contains(got, "********") {
			t.Errorf("%s: nothing is masked: %q", what, got)
		}
	}
}

// TestMaskCoversBase64 encodes the secret at every place in a longer text: what
// is left must not tell it any more.
func TestMaskCoversBase64(t *testing.T) {
	set := NewSet()
	set.Put("a", token)
	for shift := range 7 {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
			text := enc.EncodeToString([]byte(strings.Repeat("u", shift) + token + "vwx"[:shift%4]))
			got := set.MaskString(text)
			if n := strings.Count(got, "*"); n < 8*len(token)/6-1 || len(got) != len(text) {
				t.Errorf("shift %d: %q: %d masked", shift, got, n)
			}
		}
	}
}

func TestShortSecretsAreLeft(t *testing.T) {
	set := NewSet()
	set.Put("a", "1234567", "")
	if got := set.MaskString("1234567 12345678"); got != "1234567 12345678" {
		t.Error(got)
	}
	set.Put("a", "12345678")
	if got := set.MaskString("1234567 12345678 x"); got != "1234567 ******** x" {
		t.Error(got)
	}
}

func TestOwners(t *testing.T) {
	set := NewSet()
	set.Put("a", "first-secret", "both-secret")
	set.Put("b", "both-secret")
	set.Put("a")
	if got := set.MaskString("first-secret both-secret"); got != "first-secret ***********" {
		t.Error(got)
	}
	set.Put("b")
	if got := set.MaskString("both-secret"); got != "both-secret" || set.Reach() != 0 {
		t.Error(got, set.Reach())
	}
}

func TestMaskLeavesItsInput(t *testing.T) {
	set := NewSet()
	set.Put("a", "first-secret")
	text := []byte("x first-secret y")
	if got := set.Mask(text); string(got) != "x ************ y" || string(text) != "x first-secret y" {
		t.Errorf("%s, %s", got, text)
	}
	clean := []byte("nothing here")
	if got := set.Mask(clean); &got[0] != &clean[0] {
		t.Error("a clean text was copied")
	}
}

func TestConcurrentUse(t *testing.T) {
	set := NewSet()
	set.Put("fix", "always-secret")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 30 {
				set.Put(fmt.Sprint(i), fmt.Sprintf("secret-%d-%d", i, j))
				if got := set.MaskString("an always-secret word"); got != "an ************* word" {
					t.Error(got)
				}
			}
		})
	}
	all.Wait()
}

// naive masks what is covered by any form of any secret, by looking everywhere.
func naive(text []byte, secrets []string) []byte {
	out := bytes.Clone(text)
	for _, s := range secrets {
		if len(s) < SecretMin {
			continue
		}
		for _, f := range forms(s) {
			for i := range text {
				if bytes.HasPrefix(text[i:], []byte(f)) {
					copy(out[i:], strings.Repeat(string(mask), len(f)))
				}
			}
		}
	}
	return out
}

// inPieces masks a text as a follower does: what is final is kept, the rest is
// read again with what came after it.
func inPieces(t *testing.T, set *Set, text []byte, size int) []byte {
	t.Helper()
	var out []byte
	for end := min(size, len(text)); ; end = min(end+size, len(text)) {
		before := text[max(0, len(out)-set.Reach()):len(out)]
		piece := text[len(out):end]
		raw := bytes.Clone(piece)
		masked, final := set.MaskWindow(before, piece, end == len(text))
		if len(masked) != len(piece) || final > len(piece) || len(piece)-final > set.Reach() || !bytes.Equal(raw, piece) {
			t.Fatalf("piece of %d: %d masked, %d final, reach %d", len(piece), len(masked), final, set.Reach())
		}
		out = append(out, masked[:final]...)
		if end == len(text) {
			return out
		}
	}
}

func FuzzMask(f *testing.F) {
	f.Add([]byte("say sk-ant-oat01-abcdefgh and hex 736b2d616e742d6f"), "sk-ant-oat01-abcdefgh", "abcdefghabc", 5)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaa"), "aaaaaaaaa", "aaaaaaaaaaaaa", 1)
	f.Add([]byte("c2stYW50LW9hdDAxLWFiY2RlZmdo"), "sk-ant-oat01-abcdefgh", "", 3)
	f.Add([]byte(`{"a":"q\"\\\u003cq/12345"}`), `q"\<q/12345`, "12345678", 2)
	f.Fuzz(func(t *testing.T, text []byte, a, b string, size int) {
		if len(text) > 4096 || len(a)+len(b) > 512 {
			return
		}
		text = slices.Concat(text, []byte(a), text, []byte(b+a+b))
		set := NewSet()
		set.Put("x", a)
		set.Put("y", b)
		want := naive(text, []string{a, b})
		if got := set.Mask(text); !bytes.Equal(got, want) {
			t.Fatalf("whole: %q\nwant %q", got, want)
		}
		if got := inPieces(t, set, text, 1+max(0, size)%97); !bytes.Equal(got, want) {
			t.Fatalf("pieces: %q\nwant %q", got, want)
		}
	})
}

// TestPieces cuts texts full of secrets, parts of secrets and their encodings at
// every size.
func TestPieces(t *testing.T) {
	secrets := []string{"sk-ant-oat01-abcdefgh", "sk-ant-oat01-abcdefghijkl", "abcdefghsk-ant", "hhhhhhhhhh", "rt-éé-9/8+7"}
	set := NewSet()
	set.Put("all", secrets...)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var text []byte
		for len(text) < 600 {
			s := secrets[r.IntN(len(secrets))]
			all := forms(s)
			f := all[r.IntN(len(all))]
			text = append(text, f[:1+r.IntN(len(f))]...)
			if r.IntN(3) == 0 {
				text = append(text, '\n')
			}
		}
		want := naive(text, secrets)
		for size := 1; size < 70; size += 3 {
			if got := inPieces(t, set, text, size); !bytes.Equal(got, want) {
				t.Fatalf("size %d: %q\nwant %q", size, got, want)
			}
		}
	}
}

// output is what a CLI writes, without any secret.
func output(size int) []byte {
	line := `{"type":"assistant","message":{"id":"msg_01abc","content":[{"type":"text","text":"I look at the parser and its tests, then change lib/parse.go so that 9c1f is read."}],"usage":{"input_tokens":1234}}}` + "\n"
	return []byte(strings.Repeat(line, size/len(line)+1)[:size])
}

func benchSet(n int) *Set {
	set := NewSet()
	for i := range n {
		set.Put(fmt.Sprint(i), fmt.Sprintf("sk-ant-oat01-%s-%04d", strings.Repeat("Ab9_", 20), i), fmt.Sprintf("cwa_%052d", i))
	}
	return set
}

// BenchmarkMask against BenchmarkFloor: the least that can be done is to look at
// every byte once.
func BenchmarkMask(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprintf("accounts=%d", n), func(b *testing.B) {
			set, text := benchSet(n), output(64<<10)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				set.MaskWindow(nil, text, false)
			}
		})
	}
}

func BenchmarkFloor(b *testing.B) {
	text := output(64 << 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		bytes.Index(text, []byte("sk-ant-oat01-"))
	}
}

func BenchmarkPut(b *testing.B) {
	set := benchSet(10)
	for i := 0; b.Loop(); i++ {
		set.Put("one", fmt.Sprintf("sk-ant-oat01-%0100d", i))
	}
}

// TestBegunBefore: a secret that became known when its beginning was stored
// already is still held back and masked from here on.
func TestBegunBefore(t *testing.T) {
	set := NewSet()
	set.Put("a", "sk-ant-oat01-abcdefgh")
	if _, final := set.MaskWindow([]byte("a sk-ant-oa"), []byte("t01-"), false); final != 0 {
		t.Errorf("%d bytes count as final", final)
	}
	if got, final := set.MaskWindow([]byte("a sk-ant-oa"), []byte("t01-abcdefgh b"), false); string(got) != "************ b" || final != 14 {
		t.Errorf("%q, %d", got, final)
	}
}
