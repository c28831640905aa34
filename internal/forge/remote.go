package forge

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"cw/internal/cw"
)

// The public hosts.
const (
	hostGitHub = "github.com"
	hostGitLab = "gitlab.com"
)

// Repository is a repository at a forge, as the URL of a remote names it.
type Repository struct {
	Scheme string // http or https; "" when the remote is reached by ssh
	Host   string // in lower case, with a port for http and https alone
	Path   string // owner/name, or group/…/name, without .git
}

// remoteMax is the greatest length of a remote's URL in bytes.
const remoteMax = 2048

var (
	scpForm  = cw.Pattern(`^(?:[^@/\s]+@)?([A-Za-z0-9][A-Za-z0-9.-]*):/?([^/:].*)$`)
	hostName = cw.Pattern(`^(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$`)
	segment  = cw.Pattern(`^[A-Za-z0-9_.][A-Za-z0-9_.+~-]*$`)
)

// ParseRemote reads which repository of which host a remote's URL names: https,
// http, ssh and git@HOST:PATH. A name or a password in it is left out, and never
// in an error. CodeInvalid for what names none at a host.
func ParseRemote(remote string) (Repository, error) {
	r, ok := parseRemote(remote)
	if !ok {
		return Repository{}, cw.Errorf(cw.CodeInvalid, "the remote is no repository at GitHub or GitLab").
			WithHint("its URL should be like https://github.com/OWNER/NAME or git@gitlab.com:GROUP/NAME; see: git remote -v")
	}
	return r, nil
}

func parseRemote(remote string) (r Repository, ok bool) {
	path := ""
	switch {
	case len(remote) > remoteMax || strings.ContainsFunc(remote, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }):
		return r, false
	case strings.Contains(remote, "://"):
		u, err := url.Parse(remote)
		if err != nil || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
			return r, false
		}
		r.Host, path = u.Host, u.Path
		switch scheme := strings.ToLower(u.Scheme); scheme {
		case "https", "http":
			r.Scheme = scheme
		case "ssh", "git+ssh", "ssh+git":
			r.Host = u.Hostname() // the port is that of ssh
		default:
			return r, false
		}
	default:
		m := scpForm().FindStringSubmatch(remote)
		if m == nil {
			return r, false
		}
		r.Host, path = m[1], m[2]
	}
	r.Host = publicHost(strings.ToLower(r.Host))
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	r.Path = path
	parts := strings.Split(path, "/")
	good := func(part string) bool { return segment().MatchString(part) && part != "." && part != ".." }
	return r, hostName().MatchString(r.Host) && len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !good(p) })
}

// publicHost gives the name of a public host for those of its doors for ssh.
func publicHost(host string) string {
	switch host {
	case "ssh." + hostGitHub, "www." + hostGitHub:
		return hostGitHub
	case "altssh." + hostGitLab:
		return hostGitLab
	}
	return host
}

// Which tells the forge of a host: wanted, when somebody says so, else as the
// host's name tells. CodeInvalid when it does not.
func (r Repository) Which(wanted cw.Forge) (cw.Forge, error) {
	switch {
	case slices.Contains(cw.Forges(), wanted):
		return wanted, nil
	case wanted != "":
		return "", cw.Errorf(cw.CodeInvalid, "%.60q is no forge", string(wanted)).WithHint("there are github and gitlab")
	case r.Host == hostGitHub, strings.HasSuffix(r.Host, ".ghe.com"):
		return cw.ForgeGitHub, nil
	case strings.Contains(r.Host, "gitlab"):
		return cw.ForgeGitLab, nil
	}
	return "", cw.Errorf(cw.CodeInvalid, "it cannot be told whether %s is GitHub or GitLab", r.Host).
		WithHint("say so: --forge github, or --forge gitlab")
}

// ownerOnly is the form of a path at GitHub.
var ownerOnly = cw.Pattern(`^[^/]+/[^/]+$`)

// At gives the repository as the API at an address names it. CodeInvalid for a
// path that no repository of the forge has.
func (r Repository) At(f cw.Forge, address string) (string, error) {
	path := r.Path
	if u, err := url.Parse(address); err == nil && r.Scheme != "" {
		root := strings.Trim(strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), apiPath(f)), "/")
		if inside, ok := strings.CutPrefix(path, root+"/"); ok && root != "" {
			path = inside // a forge below a folder of its host
		}
	}
	if f == cw.ForgeGitHub && !ownerOnly().MatchString(path) || !strings.Contains(path, "/") {
		return "", cw.Errorf(cw.CodeInvalid, "%.200q is no repository at %s", path, f.Title()).WithHint("its URL should end in OWNER/NAME; see: git remote -v")
	}
	return path, nil
}

// Address gives the address of the API of the host that a repository is at.
// CodeInvalid for one that is reached in the clear over a network.
func (r Repository) Address(f cw.Forge) (string, error) {
	scheme := "https"
	if r.Scheme == "http" && isLoopback(r.Host) {
		scheme = "http"
	}
	return CheckAddress(f, scheme+"://"+r.Host)
}

// CheckAddress gives the address of an API by what people know of it: that of
// the forge itself, or of its API. CodeInvalid for what is none, for one with a
// name or password, and for http but on this machine.
func CheckAddress(f cw.Forge, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || !hostName().MatchString(u.Host) || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || len(address) > remoteMax {
		return "", cw.Errorf(cw.CodeInvalid, "that is no address of %s", f.Title()).WithHint("write it like https://git.example.com, without a name or a token")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), publicHost(strings.ToLower(u.Host))
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Host)) {
		return "", cw.Errorf(cw.CodeInvalid, "a token is not sent to %s in the clear", u.Host).WithHint("use https")
	}
	path := strings.TrimSuffix(u.Path, "/")
	switch {
	case f == cw.ForgeGitHub && u.Host == hostGitHub:
		u.Host, path = "api."+hostGitHub, ""
	case f == cw.ForgeGitHub && strings.HasSuffix(u.Host, ".ghe.com") && !strings.HasPrefix(u.Host, "api."):
		u.Host, path = "api."+u.Host, ""
	case f == cw.ForgeGitHub && strings.HasPrefix(u.Host, "api."):
	case !strings.HasSuffix(path, apiPath(f)):
		path += apiPath(f)
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + "/"}).String(), nil
}

// PublicAddress is the address of the API of a forge's public host: where a
// token goes that was given without an address.
func PublicAddress(f cw.Forge) string {
	if f == cw.ForgeGitHub {
		return "https://api." + hostGitHub + "/"
	}
	return "https://" + hostGitLab + "/api/v4/"
}

// apiPath is where a host of one's own has its API.
func apiPath(f cw.Forge) string {
	if f == cw.ForgeGitHub {
		return "/api/v3"
	}
	return "/api/v4"
}

func isLoopback(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.IsLoopback() && !ip.Is4In6()
}
