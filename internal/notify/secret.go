package notify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cw/internal/cw"
)

// secretMin and secretMax bound a secret, in bytes.
const (
	secretMin = 16
	secretMax = 4 << 10
)

// Secret is the path of a file with the key that signs requests; "" when they
// are not signed. It is read for each request, so that it can be changed without
// a restart.
type Secret string

// Read gives the key; nil when requests are not signed. CodeRefused for a file
// that cannot be used: one that is not there, that others can read, or whose
// content is too short or too long.
func (s Secret) Read() ([]byte, error) {
	if s == "" {
		return nil, nil
	}
	refused := cw.Errorf(cw.CodeRefused, "notify.secretFile %s cannot be used", string(s))
	f, err := os.Open(string(s))
	if err != nil {
		return nil, refused.WithHint("make it: head -c 32 /dev/urandom | base64 > FILE, and chmod 600 FILE").Because(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, refused.Because(err)
	case !info.Mode().IsRegular():
		return nil, refused.WithHint("name a file").Because(errors.New("it is no file"))
	case info.Mode().Perm()&0o077 != 0:
		return nil, refused.WithHint("chmod 600 %s", string(s)).Because(fmt.Errorf("it is open to other users (mode %04o)", info.Mode().Perm()))
	}
	data, err := io.ReadAll(io.LimitReader(f, secretMax+1))
	if err != nil {
		return nil, refused.Because(err)
	}
	key := strings.TrimSpace(string(data)) // editors and echo add an end of line
	if len(key) < secretMin || len(data) > secretMax {
		return nil, refused.WithHint("head -c 32 /dev/urandom | base64 makes a good one").
			Because(fmt.Errorf("a key has %d to %d bytes", secretMin, secretMax))
	}
	return []byte(key), nil
}
