package main

import (
	"context"

	"cw/internal/cw"
)

// fakeProviders is what a daemon in memory knows of providers.
type fakeProviders struct {
	providers []cw.ProviderView
	lookedOn  []string // PATHs
}

func (f *fakeServices) Providers(_ context.Context, path string) ([]cw.ProviderView, error) {
	f.lookedOn = append(f.lookedOn, path)
	return f.providers, f.fails("Providers")
}

func (f *fakeServices) Provider(_ context.Context, name, path string) (cw.ProviderView, error) {
	f.lookedOn = append(f.lookedOn, path)
	for _, v := range f.providers {
		if v.Name == name {
			return v, f.fails("Provider")
		}
	}
	return cw.ProviderView{}, cw.Errorf(cw.CodeNotFound, "there is no provider %q", name).WithHint("There are: claude")
}
