package main

import (
	"os"
	"strings"
	"time"
)

// zone names the time zone in which this machine, or TZ, tells the time; "",
// which is UTC, when neither names one that is known.
func (a *app) zone() string {
	tz, set := a.env["TZ"]
	link, _ := os.Readlink("/etc/localtime") // not a link: not known
	return zoneOf(tz, set, link)
}

// zoneOf is zone, of what TZ says and of where /etc/localtime leads.
func zoneOf(tz string, set bool, localtime string) string {
	name := strings.TrimPrefix(tz, ":")
	if !set {
		name = localtime
	}
	if _, below, found := strings.Cut(name, "zoneinfo/"); found {
		name = below
	}
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return ""
	}
	return name
}
