package main

import (
	"embed"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// launcher has the files of the main package.
//
//go:embed npm
var launcher embed.FS

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	Homepage    string            `json:"homepage"`
	Repository  map[string]string `json:"repository"`
	Bin         map[string]string `json:"bin,omitempty"`
	Main        string            `json:"main,omitempty"`
	Systems     []string          `json:"os,omitempty"`
	Processors  []string          `json:"cpu,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	// Optional has the platform packages. npm installs the one whose os and cpu fit.
	Optional map[string]string `json:"optionalDependencies,omitempty"`
	// Unplugged makes Yarn unpack the package, because a program in an archive cannot be started.
	Unplugged bool `json:"preferUnplugged,omitempty"`
}

func (r *release) manifest(name, description string) manifest {
	return manifest{Name: name, Version: r.version, Description: description, Licence: "MIT", Homepage: r.homepage,
		Repository: map[string]string{"type": "git", "url": "git+" + r.homepage + ".git"}}
}

// nodeSystem returns the name of the system in Node.js, or "" for systems without packages.
func (t target) nodeSystem() string {
	return map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}[t.system]
}

// nodeProcessor returns the name of the processor in Node.js, or "" for processors without packages.
func (t target) nodeProcessor() string {
	return map[string]string{"amd64": "x64", "arm64": "arm64"}[t.processor]
}

// platformPackage returns the name of the npm package with the program of a target.
func (r *release) platformPackage(t target) string {
	return r.npm + "-" + t.nodeSystem() + "-" + t.nodeProcessor()
}

// writePlatformPackage writes the npm package with the program of a target.
func (r *release) writePlatformPackage(t target, program file, papers []file) error {
	m := r.manifest(r.platformPackage(t), "The program of "+r.npm+" for "+t.nodeSystem()+" "+t.nodeProcessor())
	m.Systems, m.Processors, m.Unplugged = []string{t.nodeSystem()}, []string{t.nodeProcessor()}, true
	program.name = path.Join("bin", program.name)
	return r.writePackage(m, append([]file{program}, papers...))
}

// writeMainPackage writes the npm package that clients depend on.
func (r *release) writeMainPackage(targets []target) error {
	m := r.manifest(r.npm, "A coding-agent server in the Codex app-server protocol")
	m.Bin, m.Main = map[string]string{"appserver": "appserver.js"}, "path.js"
	m.Engines, m.Optional = map[string]string{"node": ">=18"}, map[string]string{}
	for _, t := range targets {
		m.Optional[r.platformPackage(t)] = r.version
	}
	licence, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	files := []file{{"LICENSE", 0o644, licence}}
	for name, mode := range maps.All(map[string]os.FileMode{"appserver.js": 0o755, "path.js": 0o644, "README.md": 0o644}) {
		content, err := launcher.ReadFile(path.Join("npm", name))
		if err != nil {
			return err
		}
		files = append(files, file{name, mode, content})
	}
	return r.writePackage(m, files)
}

// writePackage writes an archive as npm pack does, with its name.
func (r *release) writePackage(m manifest, files []file) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files = append(files, file{"package.json", 0o644, append(text, '\n')})
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-") + "-" + m.Version + ".tgz"
	return writeFile(filepath.Join(r.out, name), func(w io.Writer) error {
		return writeTar(w, "package", r.time, files)
	})
}
