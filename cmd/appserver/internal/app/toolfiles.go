package app

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"appserver/core/effects/sandbox"
	"appserver/platform/disk"
)

const (
	// maxToolFiles and maxToolBytes bound the files of one thread. The oldest ones are removed for new ones.
	maxToolFiles, maxToolBytes = 100, 64 << 20
	// orphanAge is the age from which the folder of a thread that does not exist is removed.
	orphanAge = 24 * time.Hour
	// maxSwept bounds the folders that one server examines.
	maxSwept = 1000
)

// toolFiles stores bytes that tools returned, in a folder for each thread. Commands can read them, also in the sandbox.
type toolFiles struct {
	dir string
	// exists reports whether a thread is stored.
	exists func(thread string) bool
	mu     sync.Mutex
	swept  bool
}

func newToolFiles(home string, exists func(thread string) bool) *toolFiles {
	return &toolFiles{dir: filepath.Join(home, sandbox.SharedFolder), exists: exists}
}

// keep stores bytes in a durable file and returns its path. Equal bytes of a thread have one file.
func (t *toolFiles) keep(thread string, content []byte, extension string) (string, error) {
	if !isFolderName(thread) {
		return "", errors.New("the thread has no folder")
	}
	if len(content) > maxToolBytes {
		return "", fmt.Errorf("a file can have %d MiB", maxToolBytes>>20)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep()
	dir, sum := filepath.Join(t.dir, thread), sha256.Sum256(content)
	path := filepath.Join(dir, hex.EncodeToString(sum[:8])+extension)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(content)) {
		return path, os.Chtimes(path, time.Time{}, time.Now())
	}
	if err := t.makeRoom(dir, int64(len(content))); err != nil {
		return "", err
	}
	return path, disk.Replace(disk.OS(), path, content)
}

// isFolderName reports whether an id can be the name of a folder.
func isFolderName(id string) bool {
	return id != "." && id == filepath.Base(id) && filepath.IsLocal(id)
}

// makeRoom creates the folder of a thread, and removes its oldest files until another one has room.
func (t *toolFiles) makeRoom(dir string, size int64) error {
	if err := disk.OS().MkdirAll(dir, disk.DirMode); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
			size += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for len(files) >= maxToolFiles || len(files) > 0 && size > maxToolBytes {
		if err := os.Remove(filepath.Join(dir, files[0].Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		size -= files[0].Size()
		files = files[1:]
	}
	return nil
}

// forget removes the files of a thread.
func (t *toolFiles) forget(thread string) error {
	if !isFolderName(thread) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return os.RemoveAll(filepath.Join(t.dir, thread))
}

// sweep removes, once, the folders of threads that do not exist: of ephemeral threads of servers that were killed.
func (t *toolFiles) sweep() {
	if t.swept {
		return
	}
	t.swept = true
	entries, _ := os.ReadDir(t.dir) // none if it cannot be read
	for _, e := range entries[:min(len(entries), maxSwept)] {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > orphanAge && !t.exists(e.Name()) {
			_ = os.RemoveAll(filepath.Join(t.dir, e.Name())) // another server tries again
		}
	}
}
