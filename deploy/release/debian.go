package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"time"
)

// writeDebian writes the Debian package of a target with nfpm. The program is static, so the package
// depends on nothing.
func (r *release) writeDebian(ctx context.Context, t target, program string, papers []file) error {
	dir, err := os.MkdirTemp("", "appserver-debian-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	type object = map[string]any
	entry := func(source, target string, mode os.FileMode) object {
		return object{"src": source, "dst": target, "file_info": object{"mode": mode, "mtime": r.time.Format(time.RFC3339)}}
	}
	contents := []object{entry(program, "/usr/bin/appserver", 0o755)}
	installed, err := r.debianFiles(papers)
	if err != nil {
		return err
	}
	for i, f := range installed {
		source := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(source, f.content, 0o644); err != nil {
			return err
		}
		contents = append(contents, entry(source, f.name, f.mode))
	}
	// nfpm reads YAML, of which JSON is a part.
	config, err := json.Marshal(object{"name": "appserver", "arch": t.processor, "platform": t.system,
		"version": r.version, "section": "devel", "priority": "optional", "maintainer": r.maintainer,
		"homepage": r.homepage, "license": "MIT",
		"description": "coding-agent server in the Codex app-server protocol\n" +
			"It runs a coding agent for editors, user interfaces and scripts,\nwith any model provider.",
		"recommends": []string{"ca-certificates", "git"},
		"mtime":      r.time.Format(time.RFC3339), "contents": contents})
	if err != nil {
		return err
	}
	settings := filepath.Join(dir, "nfpm.json")
	if err := os.WriteFile(settings, config, 0o644); err != nil {
		return err
	}
	absolute, err := filepath.Abs(r.out)
	if err != nil {
		return err
	}
	if _, err := r.command(ctx, "go", "tool", "-modfile=.ci/tools.mod", "nfpm", "package", "--config", settings,
		"--packager", "deb", "--target", filepath.Join(absolute, r.nameFor(t)+".deb")); err != nil {
		return errors.Join(fmt.Errorf("the Debian package was not made"), err)
	}
	return nil
}

// debianFiles returns the files of the package beside the program: the documents, the manual page and the completions,
// with the paths that they are installed at.
func (r *release) debianFiles(papers []file) ([]file, error) {
	manual, err := r.packedManual()
	if err != nil {
		return nil, err
	}
	files := []file{{"/usr/share/man/man1/appserver.1.gz", 0o644, manual}}
	for place, script := range r.completions {
		files = append(files, file{place, 0o644, script})
	}
	for _, paper := range papers {
		name := paper.name
		if name == "LICENSE" {
			name = "copyright"
		}
		files = append(files, file{path.Join("/usr/share/doc/appserver", name), paper.mode, paper.content})
	}
	return sorted(files), nil
}
