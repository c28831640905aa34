package daemon

import (
	"cw/internal/cw"
	"cw/providers"
	"cw/worktree"
)

// ForAgent is the part of a caller's environment that an agent may get: what
// the presets of the home name, the user's own presets included. Commands send
// nothing else.
func ForAgent(home cw.Home, caller map[string]string) map[string]string {
	presets, _ := providers.Load(home.Providers()) // the daemon reports the bad ones
	return presets.FromCaller(caller)
}

// ForRemote is the part of a caller's environment by which git and forges are
// reached: PATH, proxies and SSH_AUTH_SOCK.
func ForRemote(caller map[string]string) map[string]string { return worktree.NetworkEnv(caller) }
