package tiptap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// linkSchemes are those the editor lets a link lead to.
var linkSchemes = []string{"http", "https", "ftp", "ftps", "mailto", "tel", "callto", "sms", "cid", "xmpp"}

// imageData are the images that may be in the text itself. SVG can hold scripts.
var imageData = []string{"data:image/png", "data:image/gif", "data:image/jpeg", "data:image/webp"}

func safeLink(href string) bool {
	scheme, ok := scheme(href)
	return !ok || slices.Contains(linkSchemes, scheme)
}

func safeImage(src string) bool {
	scheme, ok := scheme(src)
	if !ok || scheme == "http" || scheme == "https" {
		return true
	}
	return slices.ContainsFunc(imageData, func(p string) bool {
		rest, ok := strings.CutPrefix(strings.ToLower(src), p)
		return ok && rest != "" && strings.ContainsAny(rest[:1], ";,")
	})
}

// scheme gives what stands before the colon of an address, as a browser reads
// it: blanks and control characters do not hide it.
func scheme(address string) (string, bool) {
	address = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, address)
	end := strings.IndexAny(address, ":/?#")
	if end < 0 || address[end] != ':' {
		return "", false
	}
	return address[:end], true
}

// address gives an address in one line: control characters and blanks at its
// ends are encoded.
func address(s string) string {
	var out strings.Builder
	for i, r := range s {
		edge := i == 0 || i+utf8.RuneLen(r) >= len(s)
		if unicode.IsControl(r) || unicode.IsSpace(r) && (edge || r != ' ') {
			for _, b := range []byte(string(r)) {
				fmt.Fprintf(&out, "%%%02X", b)
			}
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// oneLine puts a blank for each line end.
func oneLine(s string) string { return lineEnds.Replace(s) }

var lineEnds = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// unescape reads escapes and entities, each once.
func unescape(s []byte) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			out.WriteByte(s[i+1])
			i += 2
			continue
		}
		if s[i] == '&' {
			if value, length := entity(string(s[i:min(len(s), i+40)])); length > 0 {
				out.WriteString(value)
				i += length
				continue
			}
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

// entity reads the entity at the beginning of s; its length is 0 for none.
func entity(s string) (value string, length int) {
	end := strings.IndexByte(s, ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] != '#' {
		e, ok := util.LookUpHTML5EntityByName(name)
		if !ok {
			return "", 0
		}
		return string(e.Characters), end + 1
	}
	number, hex := name[1:], false
	if number != "" && (number[0] == 'x' || number[0] == 'X') {
		number, hex = number[1:], true
	}
	r, ok := codePoint(number, hex)
	if !ok {
		return "", 0
	}
	return string(r), end + 1
}

// codePoint reads a number of at most 7 decimal or 6 hexadecimal digits.
func codePoint(number string, hex bool) (rune, bool) {
	base, digits, most := rune(10), "0123456789", 7
	if hex {
		base, digits, most = 16, "0123456789abcdef", 6
	}
	if number == "" || len(number) > most {
		return 0, false
	}
	var r rune
	for _, d := range strings.ToLower(number) {
		v := strings.IndexRune(digits, d)
		if v < 0 {
			return 0, false
		}
		r = r*base + rune(v)
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = unicode.ReplacementChar
	}
	return r, true
}
