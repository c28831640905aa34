package accounts

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"

	"cw/internal/cw"
)

// place is where an account's login is stored, made ready for a new one.
type place struct {
	set   func(data []byte) error // into the vault
	draft *draft                  // of the file in the adopted directory; nil: set is used
	form  form
	free  func() // gives the lock of its CLI back
}

// place makes the place of an account's login ready: the vault is asked to store
// what it holds already, an adopted directory to make room. The caller holds
// the account's lock.
func (m *Manager) place(ctx context.Context, a cw.Account, f form) (*place, error) {
	if a.SourceDir == "" {
		if old, err := m.Vault.Get(ctx, a.ID); err == nil {
			if err := m.Vault.Set(ctx, a.ID, old); err != nil {
				return nil, err
			}
		} else if cw.ErrorCode(err) != cw.CodeNotFound {
			return nil, err
		}
		keep := context.WithoutCancel(ctx)
		set := func(data []byte) error { return m.Vault.Set(keep, a.ID, sealed{Login: data}.secret()) }
		return &place{set: set, form: f, free: func() {}}, nil
	}
	p := &place{form: f, free: func() {}}
	var err error
	if f.config != "" {
		if p.free, err = lockForCLI(ctx, a.SourceDir); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(a.SourceDir, f.file)
	sweepDrafts(path)
	if p.draft, err = newDraft(path, draftRoom); err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

// now reads the login in an adopted directory; false without one.
func (p *place) now() (credentials, bool) {
	if p.draft == nil {
		return credentials{}, false
	}
	data, err := readOwn(p.draft.path)
	if err != nil {
		return credentials{}, false
	}
	c, err := p.form.read(data)
	return c, err == nil
}

// moved tells whether the login in an adopted directory is another by now than
// the one with this refresh token.
func (p *place) moved(refresh string) bool {
	now, ok := p.now()
	return ok && now.refresh != refresh
}

// put stores the whole login, and beside it what changed there. What else a CLI
// keeps in the file of an adopted directory stays as it is by now: while a token
// was asked for it may have written.
func (p *place) put(c credentials, beside map[string]json.RawMessage) error {
	if p.draft == nil {
		return p.set(p.form.whole(c))
	}
	if now, ok := p.now(); ok {
		maps.Copy(now.outer, beside)
		c.outer = now.outer
	}
	return p.draft.put(p.form.whole(c))
}

func (p *place) drop() {
	if p.draft != nil {
		p.draft.drop()
	}
	p.free()
}
