package cw

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// secretShown stands for every secret that is printed.
const secretShown = "[redacted]"

// Secret is a credential. However it is printed, logged or encoded, only
// "[redacted]" comes out; Reveal is the one way to its text. Two of them are
// compared by what they reveal.
type Secret struct {
	// text is a pointer so that it is not printed either where methods do not
	// count: as a field of somebody's that is not exported.
	text *string
}

// NewSecret wraps a credential.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal gives the credential itself: for the environment of a CLI, a header of
// a request, and the vault.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty tells whether there is none.
func (s Secret) Empty() bool { return s.text == nil }

// Format implements fmt.Formatter, for every verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, secretShown) }

// String implements fmt.Stringer.
func (Secret) String() string { return secretShown }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(secretShown) }

// MarshalJSON never gives the text: what must travel is revealed by name.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(secretShown) }

// MarshalText never gives the text.
func (Secret) MarshalText() ([]byte, error) { return []byte(secretShown), nil }

// UnmarshalJSON takes a credential from a request.
func (s *Secret) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*s = NewSecret(text)
	return nil
}
