package worktree

import (
	"cmp"
	"net/url"
	"os/exec"
	"strings"

	"cw/internal/cw"
)

// lfsKeys sets up git-lfs when the user has: always with the commands that
// git-lfs itself installs, with the user's store of objects and its address.
func lfsKeys(p cw.Project, config userConfig) [][2]string {
	if config.get("filter.lfs.process") == "" && config.get("filter.lfs.clean") == "" {
		return nil
	}
	if _, err := exec.LookPath("git-lfs"); err != nil {
		return nil
	}
	storage := config.get("lfs.storage")
	if storage == "" {
		storage = "lfs"
	}
	keys := [][2]string{
		{"filter.lfs.clean", "git-lfs clean -- %f"},
		{"filter.lfs.smudge", "git-lfs smudge -- %f"},
		{"filter.lfs.process", "git-lfs filter-process"},
		{"filter.lfs.required", "true"},
		{"lfs.storage", absoluteIn(p.GitDir, storage)},
	}
	if address := lfsAddress(p, config); address != "" {
		keys = append(keys, [2]string{"lfs.url", address})
	}
	return keys
}

// lfsAddress is where objects come from that the user does not have yet: the
// mirror has no remote from which git-lfs could tell.
func lfsAddress(p cw.Project, config userConfig) string {
	if address := config.get("lfs.url"); address != "" {
		return address
	}
	remote, err := url.Parse(cmp.Or(p.RemoteURL, config.get("remote.origin.url")))
	if err != nil || (remote.Scheme != "https" && remote.Scheme != "http") {
		return ""
	}
	remote.User = nil // a password has no place in the mirror
	remote.Path = strings.TrimSuffix(strings.TrimSuffix(remote.Path, "/"), ".git") + ".git/info/lfs"
	return remote.String()
}

// hasLFS tells whether the mirror is set up for git-lfs.
func (x *mirror) hasLFS() bool {
	config, err := readSmall(guardCopy(x.dir, fileConfig))
	return err == nil && strings.Contains(string(config), "[filter \"lfs\"]")
}
