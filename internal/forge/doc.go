// Package forge opens pull requests at GitHub and merge requests at GitLab. It
// is the home of go-github.
//
// It knows neither initiatives nor repositories on disk: it is told a branch
// that is at the remote already, and a token. A token goes to the address that
// it was given for and nowhere else: redirects are not followed.
package forge
