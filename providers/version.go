package providers

import (
	"fmt"
	"strconv"
	"strings"

	"cw/internal/cw"
)

// CheckVersion reads the version out of what the version probe printed. One
// that is older than the preset's minimum is CodeRefused, with the line that
// installs a newer one as hint; the version is given all the same. A preset
// that asks for none gives "".
func (p Preset) CheckVersion(output string) (string, error) {
	if p.compiled.version == nil {
		return "", nil
	}
	m := p.compiled.version.FindStringSubmatch(output)
	if m == nil {
		return "", p.installHint(cw.Errorf(cw.CodeRefused, "%s tells no version that can be read: %q", p.Title, shorten(strings.TrimSpace(output))))
	}
	version := m[1]
	if p.Version.Minimum == "" {
		return version, nil
	}
	have, ok := parseVersion(version)
	if !ok {
		return version, p.installHint(cw.Errorf(cw.CodeRefused, "%s tells no version that can be read: %q", p.Title, version))
	}
	want, _ := parseVersion(p.Version.Minimum) // checked when loaded
	if olderThan(have, want) {
		return version, p.installHint(cw.Errorf(cw.CodeRefused, "%s %s is too old: %s or newer is needed", p.Title, version, p.Version.Minimum))
	}
	return version, nil
}

func (p Preset) installHint(err *cw.Error) error {
	if p.Command.Install == "" {
		return err
	}
	return err.WithHint("%s", fmt.Sprintf("install it with: %s", p.Command.Install))
}

// parseVersion reads "2.1.197". What follows a hyphen or plus is left out:
// a pre-release counts as its release.
func parseVersion(text string) ([]int, bool) {
	text, _, _ = strings.Cut(text, "-")
	text, _, _ = strings.Cut(text, "+")
	var out []int
	for part := range strings.SplitSeq(text, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// isSince reports whether a version is one from which on something holds. One that is
// not known is not.
func isSince(version, since string) bool {
	if since == "" {
		return true
	}
	have, known := parseVersion(version)
	want, ok := parseVersion(since)
	return known && ok && !olderThan(have, want)
}

func olderThan(have, want []int) bool {
	for i := range max(len(have), len(want)) {
		var h, w int
		if i < len(have) {
			h = have[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if h != w {
			return h < w
		}
	}
	return false
}
