package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// formMin is the least length of a form that is searched for. The inner part of
// an encoding can be a little shorter than the secret's own text in it.
const formMin = SecretMin

// forms gives everything that is searched for to find a secret: its own text
// and its usual encodings, without doubles.
func forms(secret string) []string {
	out := []string{secret, hex.EncodeToString([]byte(secret)), wide(secret)}
	out = append(out, strings.ToUpper(out[1]))
	out = append(out, base64Forms(secret)...)
	out = append(out, jsonForms(secret)...)
	out = append(out, percentForms(secret)...)
	out = append(out, escapedForms(secret)...)
	out = slices.DeleteFunc(out, func(f string) bool { return len(f) < formMin })
	slices.Sort(out)
	return slices.Compact(out)
}

// base64Forms gives the characters that the secret alone decides, for each of
// the three places at which it can begin in a longer text that is encoded.
func base64Forms(secret string) []string {
	var out []string
	for shift := range 3 {
		text := append(make([]byte, shift), secret...)
		from, to := (8*shift+5)/6, 8*len(text)/6
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString(text)[from:to])
		}
	}
	return out
}

// jsonForms gives the secret inside a JSON string, and inside JSON that is a
// string of another: tools' results travel so.
func jsonForms(secret string) []string {
	var out []string
	for _, html := range []bool{true, false} {
		once := quoted(secret, html)
		out = append(out, once, quoted(once, html), strings.ReplaceAll(once, "/", `\/`))
	}
	return out
}

func quoted(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s)                       // a string can always be encoded, and a buffer written
	return string(b.Bytes()[1 : b.Len()-2]) // without the quotes and the line end
}

// percentForms gives the secret in URLs and forms, with either case of digits.
func percentForms(secret string) []string {
	out := []string{url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20")}
	for _, f := range out[:len(out):len(out)] {
		out = append(out, lowerDigits(f))
	}
	return out
}

// escapedForms gives the secret with every character escaped, as JSON and as
// percent encoding allow it, with either case of digits.
func escapedForms(secret string) []string {
	var units, octets strings.Builder
	for _, u := range utf16.Encode([]rune(secret)) {
		fmt.Fprintf(&units, `\u%04x`, u)
	}
	for i := range len(secret) {
		fmt.Fprintf(&octets, "%%%02x", secret[i])
	}
	lower := units.String()
	upper := strings.ReplaceAll(strings.ToUpper(lower), `\U`, `\u`)
	return []string{
		lower, upper, strings.ReplaceAll(lower, `\`, `\\`), strings.ReplaceAll(upper, `\`, `\\`),
		octets.String(), strings.ToUpper(octets.String()),
	}
}

// lowerDigits writes %2F as %2f.
func lowerDigits(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

// wide is the text in UTF-16, as Windows programs write it.
func wide(s string) string {
	b := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return string(b)
}
