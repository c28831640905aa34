package main

import (
	"context"
	"time"

	"cw/internal/cw"
)

func (f *fakeServices) OpenDoor(_ context.Context, req cw.OpenRequest) (cw.Opened, error) {
	if err := f.fails("OpenDoor"); err != nil {
		return cw.Opened{}, err
	}
	const address = "127.0.0.1:41234"
	out := cw.Opened{Address: address, URL: cw.OpenURL(address, req.Path, "cwo_code"), ExpiresAt: epoch.Add(time.Minute)}
	if req.File {
		out.File = "/home/lead/.cw/run/open-k3v7q2mzt5ha.html"
	}
	return out, nil
}

func (f *fakeServices) StartSession(context.Context, cw.SessionRequest) (cw.CreatedToken, error) {
	return cw.CreatedToken{}, cw.BadOpenCode()
}

func (f *fakeServices) EndSession(context.Context) (cw.Token, error) {
	return cw.Token{}, cw.NoSession()
}

func (f *fakeServices) Settings(context.Context) (cw.SettingList, error) {
	return cw.SettingList{}, f.fails("Settings")
}
