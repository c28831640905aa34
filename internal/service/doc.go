// Package service puts the daemon under the user's service manager: systemd on
// Linux, launchd on macOS. Neither ever ends an agent: only the daemon's own
// process belongs to the service. A definition that cw did not make is never
// touched.
package service
