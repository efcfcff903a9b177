package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

// extras are texts that the program prints about itself.
type extras struct {
	// manual is the manual page.
	manual []byte
	// completions has the script of each shell, by the place where Debian looks for it.
	completions map[string][]byte
}

// completionPlaces returns the files in which the shells of Debian look for scripts, by the names of the shells.
func completionPlaces() map[string]string {
	return map[string]string{
		"bash": "/usr/share/bash-completion/completions/appserver",
		"zsh":  "/usr/share/zsh/vendor-completions/_appserver",
		"fish": "/usr/share/fish/vendor_completions.d/appserver.fish",
	}
}

// readExtras builds the program for this machine in a folder, and runs it.
func (r *release) readExtras(ctx context.Context, folder string) (err error) {
	program := filepath.Join(folder, "of-this-machine")
	if err := r.build(ctx, target{runtime.GOOS, runtime.GOARCH}, program); err != nil {
		return err
	}
	printed := func(args ...string) []byte {
		if err != nil {
			return nil
		}
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
		cmd.Stderr = os.Stderr
		var out []byte
		out, err = cmd.Output()
		return out
	}
	r.manual, r.completions = printed("man"), map[string][]byte{}
	for shell, place := range completionPlaces() {
		r.completions[place] = printed("completion", shell)
	}
	return err
}

// archived returns the files of the archive of a target. Windows has no manual pages.
func (r *release) archived(t target, executable file, papers []file) []file {
	files := append([]file{executable}, papers...)
	if t.system != "windows" {
		files = append(files, file{"appserver.1", 0o644, r.manual})
	}
	return files
}

// packedManual returns the compressed manual page, without a time.
func (r *release) packedManual() ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(r.manual); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
