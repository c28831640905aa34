// Package web holds the files of the dashboard, as they were built from the
// sources beside it.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are the built dashboard: index.html and what it needs.
func Files() (fs.FS, error) { return fs.Sub(dist, "dist") }
