package cw

import (
	"strings"
	"testing"
)

func TestSendRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		req     SendRequest
		trouble string
	}{
		{"a text", SendRequest{Text: "go on"}, ""},
		{"queued", SendRequest{Text: "go on", WhenBusy: BusyQueue}, ""},
		{"refused", SendRequest{Text: "go on", WhenBusy: BusyRefuse}, ""},
		{"of any words", SendRequest{Text: "größer & <b>\n\ttab"}, ""},
		{"as long as can be", SendRequest{Text: strings.Repeat("x", MessageMax)}, ""},
		{"too long", SendRequest{Text: strings.Repeat("x", MessageMax+1)}, "1048577 bytes long, at most 1048576"},
		{"too long in bytes", SendRequest{Text: strings.Repeat("ü", MessageMax/2+1)}, "put the material into a file"},
		{"empty", SendRequest{}, "the text is empty"},
		{"blank", SendRequest{Text: " \n\t "}, "the text is empty"},
		{"not UTF-8", SendRequest{Text: "a\xff"}, "iconv"},
		{"a zero byte", SendRequest{Text: "a\x00b"}, "plain text"},
		{"another way", SendRequest{Text: "go on", WhenBusy: "drop"}, "it is queue or refuse"},
		{"another way and no text", SendRequest{WhenBusy: "Queue"}, "it is queue or refuse"},
	} {
		err := c.req.Check()
		if c.trouble != "" {
			told(t, err, CodeInvalid, c.trouble)
		} else if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
