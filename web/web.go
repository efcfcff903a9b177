// Package web has the files of the workbench, the page that `appserver web` serves.
//
// The sources are TypeScript in src and libraries in vendor. Command gen builds dist from them,
// which is committed, so that building the server needs Go only.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Assets returns the built files, each compressed by gzip: index.html.gz, and below assets files whose names
// contain a hash of their content.
func Assets() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return files
}
