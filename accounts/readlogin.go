package accounts

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"cw/internal/cw"
)

const (
	// rereads and rereadPause bound how often a file is read again that was being
	// rewritten.
	rereads     = 5
	rereadPause = 40 * time.Millisecond
)

// login is a login that lies in a configuration directory.
type login struct {
	credentials
	email    string
	identity string
}

// readLogin reads the login in a CLI's configuration directory. What is no JSON
// is read again: its CLI may be writing it. fs.ErrNotExist when there is none.
func (f form) readLogin(ctx context.Context, dir string) (login, error) {
	path := filepath.Join(dir, f.file)
	for try := 0; ; try++ {
		data, err := readOwn(path)
		if err != nil {
			return login{}, err
		}
		c, err := f.read(data)
		if err == nil {
			return f.whose(c, dir), nil
		}
		if !errors.Is(err, errNoJSON) || try == rereads {
			return login{}, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		select {
		case <-ctx.Done():
			return login{}, ctx.Err()
		case <-time.After(rereadPause):
		}
	}
}

// whose finds out whose login it is, from the login and from the CLI's settings
// beside it.
func (f form) whose(c credentials, dir string) login {
	l := login{credentials: c}
	var id string
	if f.config != "" && dir != "" {
		id, l.email = claudeAccount(filepath.Join(dir, f.config))
		if id == "" && filepath.Base(dir) == ".claude" {
			id, l.email = claudeAccount(filepath.Join(filepath.Dir(dir), f.config)) // beside ~/.claude
		}
	} else if f.config == "" {
		_ = json.Unmarshal(c.fields["account_id"], &id)
		var token string
		_ = json.Unmarshal(c.fields[idToken], &token)
		email, _ := claims(token)["email"].(string)
		l.email = plainEmail(email)
	}
	l.identity = digest(cmp.Or(id, c.refresh, c.access))
	return l
}

// claudeAccount reads from claude's settings who is logged in. One person may
// have logins of several organizations, each with limits of its own.
func claudeAccount(path string) (id, email string) {
	data, err := readOwn(path)
	if err != nil {
		return "", ""
	}
	var file struct {
		Account struct {
			UUID         string `json:"accountUuid"`
			Organization string `json:"organizationUuid"`
			Email        string `json:"emailAddress"`
		} `json:"oauthAccount"`
	}
	if json.Unmarshal(data, &file) != nil || file.Account.UUID == "" {
		return "", ""
	}
	return file.Account.UUID + "/" + file.Account.Organization, plainEmail(file.Account.Email)
}

// plainEmail gives an address that a CLI wrote down; "" for what is none.
func plainEmail(text string) string {
	if cw.CheckEmail(text) != nil {
		return ""
	}
	return text
}

// digest names a login without telling it.
func digest(of string) string {
	mac := hmac.New(sha256.New, []byte("cw account identity"))
	mac.Write([]byte(of))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// cannotRead says for people why a login cannot be read. Only the kind of the
// trouble is told, nothing of the file.
func cannotRead(dir string, err error) *cw.Error {
	e := cw.Errorf(cw.CodeInvalid, "there is no login in %s", dir).Because(err)
	switch {
	case errors.Is(err, errNotOurs):
		return e.WithHint("the file belongs to another user: log in as yourself")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNoLogin):
		e.Err = nil // the message says it all
		return e.WithHint("log in there with the provider's CLI first")
	case errors.Is(err, errNoJSON):
		return e.WithHint("its file of credentials is damaged: log in again with the provider's CLI")
	}
	return e.WithHint("the file must be plain and readable for you")
}

// whyInvalid is the reason in a row, one line.
func whyInvalid(err error) string {
	text := err.Error()
	if hint := cw.ErrorHint(err); hint != "" {
		text += "; " + hint
	}
	return strings.ReplaceAll(text, "\n", " ")
}
