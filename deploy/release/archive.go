package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file in an archive. Its name has slashes.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// writeArchive writes the archive of a target, with one folder. Windows has zip, the others tar.
func (r *release) writeArchive(t target, files []file) error {
	write := writeTar
	if t.system == "windows" {
		write = writeZip
	}
	return writeFile(filepath.Join(r.out, r.archiveName(t)), func(w io.Writer) error {
		return write(w, r.nameFor(t), r.time, files)
	})
}

func (r *release) archiveName(t target) string {
	if t.system == "windows" {
		return r.nameFor(t) + ".zip"
	}
	return r.nameFor(t) + ".tar.gz"
}

// writeFile creates a file with what write writes.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// writeTar writes a compressed tar archive. The files belong to root.
func writeTar(w io.Writer, folder string, at time.Time, files []file) error {
	compressed := gzip.NewWriter(w)
	t := tar.NewWriter(compressed)
	for _, f := range sorted(files) {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(folder, f.name), Mode: int64(f.mode),
			Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), compressed.Close())
}

func writeZip(w io.Writer, folder string, at time.Time, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range sorted(files) {
		header := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		header.SetMode(f.mode)
		part, err := z.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.content); err != nil {
			return err
		}
	}
	return z.Close()
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// checksums returns the SHA-256 of each file in a folder, by name.
func checksums(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		sums[e.Name()] = hex.EncodeToString(sum[:])
	}
	return sums, nil
}

// writeChecksums writes SHA256SUMS, which sha256sum -c reads.
func writeChecksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	sums, err := checksums(dir)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		fmt.Fprintf(&b, "%s  %s\n", sums[e.Name()], e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), b.Bytes(), 0o644)
}
