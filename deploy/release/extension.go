package main

import (
	"context"
	"os"
	"path/filepath"
)

// writeExtension writes the extension for Visual Studio Code with the program of a target.
func (r *release) writeExtension(ctx context.Context, t target, executable file, papers []file) error {
	bin, err := os.MkdirTemp("", "appserver-extension-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	for _, f := range append([]file{executable}, papers...) {
		if err := os.WriteFile(filepath.Join(bin, f.name), f.content, f.mode.Perm()); err != nil {
			return err
		}
	}
	return r.packExtension(ctx, r.nameFor(t)+".vsix", "-target", t.String(), "-bin", bin)
}

// packExtension packs the extension into a file of the release.
func (r *release) packExtension(ctx context.Context, name string, args ...string) error {
	path, err := filepath.Abs(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	_, err = r.command(ctx, "go", append(append([]string{"run", "./editors/vscode/gen"}, args...), path)...)
	return err
}
