package cw

import (
	"net"
	"net/url"
	"path"
	"strings"
)

// remoteMax is the greatest length of a remote's URL in bytes.
const remoteMax = 2048

// scpForm is git's short form of an ssh address: git@host:path.
var scpForm = Pattern(`^(?:([A-Za-z0-9_][A-Za-z0-9._-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*):([^-:][^:]*)$`)

// userName and hostName are what may stand before a path.
var (
	userName = Pattern(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	hostName = Pattern(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
)

// LooksRemote tells a URL of a repository from a path: it has a scheme, or a
// colon before any slash, as git tells them apart. It says nothing about
// whether cw takes it: see ParseRemote.
func LooksRemote(s string) bool {
	if strings.Contains(s, "://") {
		return true
	}
	colon := strings.IndexByte(s, ':')
	return colon > 0 && !strings.Contains(s[:colon], "/")
}

// ParseRemote checks the URL of a remote repository and gives it in the form
// in which it is stored: https, ssh, git@host:path, file, and http of this
// machine alone. CodeInvalid for everything else, such as transports that run
// a program (ext::), what git could take for an option, and a URL with a
// password or token, which is not repeated in the error.
func ParseRemote(raw string) (string, error) {
	switch {
	case raw == "":
		return "", Errorf(CodeInvalid, "the URL is empty").WithHint("%s", remoteForms)
	case len(raw) > remoteMax:
		return "", Errorf(CodeInvalid, "the URL is longer than %d bytes", remoteMax).WithHint("%s", remoteForms)
	case strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }):
		return "", Errorf(CodeInvalid, "the URL holds a space, a backslash or a control character").WithHint("write them as %%20 and the like")
	case strings.HasPrefix(raw, "-"):
		return "", Errorf(CodeInvalid, "the URL starts with a hyphen").WithHint("%s", remoteForms)
	case strings.Contains(raw, "://"):
		return parseURL(raw)
	}
	m := scpForm().FindStringSubmatch(raw)
	if m == nil {
		return "", Errorf(CodeInvalid, "that is no URL of a repository that cw takes").WithHint("%s", remoteForms)
	}
	at := ""
	if m[1] != "" {
		at = m[1] + "@"
	}
	return at + strings.ToLower(m[2]) + ":" + strings.TrimRight(m[3], "/"), nil
}

const remoteForms = "URLs are https://HOST/PATH, ssh://USER@HOST/PATH, USER@HOST:PATH and file:///PATH"

// parseURL is ParseRemote for what has a scheme. A secret is looked for first:
// no other error may show one.
func parseURL(raw string) (string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return "", Errorf(CodeInvalid, "that is no URL of a repository that cw takes").WithHint("%s", remoteForms)
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	_, password := u.User.Password()
	switch {
	case password, u.User != nil && u.Scheme != "ssh", u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return "", Errorf(CodeInvalid, "the URL holds a name, password, token or query, and cw stores no credentials").
			WithHint("give it without; git asks your credential helper (git config credential.helper), or use ssh with an agent")
	case u.User != nil && !userName().MatchString(u.User.Username()):
		return "", Errorf(CodeInvalid, "the URL has an odd user name").WithHint("%s", remoteForms)
	case u.Opaque != "" || path.Clean(u.Path) == "/" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "/-"):
		return "", Errorf(CodeInvalid, "the URL names no repository on its host").WithHint("%s", remoteForms)
	}
	if err := checkHost(u); err != nil {
		return "", err
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String(), nil
}

func checkHost(u *url.URL) error {
	host := u.Hostname()
	ip := net.ParseIP(host)
	here := host == "localhost" || ip != nil && ip.IsLoopback()
	switch u.Scheme {
	case "file":
		if u.Host == "" || u.Host == "localhost" {
			u.Host = "" // git takes a host for a part of the path
			return nil
		}
		return Errorf(CodeInvalid, "a file URL names another machine").WithHint("file:///PATH is a repository on this machine")
	case "http":
		if !here {
			return Errorf(CodeInvalid, "http is not safe on a network: whoever is between could change the code").WithHint("use https or ssh")
		}
	case "https", "ssh":
	default:
		return Errorf(CodeInvalid, "cw does not use %.20s to reach a repository", u.Scheme).WithHint("%s", remoteForms)
	}
	if ip == nil && !hostName().MatchString(host) {
		return Errorf(CodeInvalid, "the URL has an odd host name").WithHint("%s", remoteForms)
	}
	return nil
}

// RemoteName is the last part of a remote's path, without .git: what a project
// of it is called.
func RemoteName(remote string) string {
	remote = strings.TrimSuffix(remote, "/.git") // of a checkout
	name := remote[strings.LastIndexAny(remote, "/:")+1:]
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.TrimSuffix(name, ".git")
}
