package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cw/internal/cw"
)

// providerWhat is what commands about one provider need.
const providerWhat = "a provider: its name or an alias"

func newProviderCmd(a *app) *cobra.Command {
	return newGroupCmd("provider", "The CLIs that agents can be",
		newProviderListCmd(a, nil), newProviderShowCmd(a, nil), newProviderTryCmd(a, nil))
}

// installedFact says whether a provider's program is there.
func installedFact(v cw.ProviderView) string {
	switch {
	case v.Installed:
		return "yes"
	case v.Resume == "": // its file never could be read
		return ""
	}
	return "no"
}

// resumeFact says how a session goes on.
func resumeFact(v cw.ProviderView) string {
	switch v.BoundTo {
	case "cwd":
		return v.Resume + ", in the same directory"
	case "repo":
		return v.Resume + ", in the same repository"
	}
	return v.Resume
}

// commandLine writes arguments as a shell would read them. Names of values stay
// bare: they are no words of a shell's.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		if words[i] = cw.ShellWord(arg); strings.HasPrefix(arg, "{{") && strings.HasSuffix(arg, "}}") {
			words[i] = arg
		}
	}
	return clean(strings.Join(words, " "))
}

// span is a duration in few words; "" for none.
func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	text := d.String()
	text = strings.TrimSuffix(text, "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	if text == "" || !strings.ContainsAny(text[len(text)-1:], "hms") {
		return d.String() // 30s, 1m10s
	}
	return text
}
