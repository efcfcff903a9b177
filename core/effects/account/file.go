package account

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"appserver/platform/disk"
)

const (
	fileName = "auth.json"
	// refreshLock is the lock of this program for refreshes.
	refreshLock = "appserver-auth-refresh.lock"
	// maxFile bounds the size of the file, in bytes.
	maxFile = 1 << 20
	// lockTime bounds the wait for a lock. The holder of the one for refreshes waits for the issuer.
	lockTime = time.Minute
)

// commitLocks are the locks of the reference implementation for changes of the file, in its order.
var commitLocks = []string{"auth.lock", "auth.json.lock"}

// file is auth.json of a home.
type file struct {
	home string
	disk disk.FS
}

// path returns the path of the file. If it is a symbolic link, it is that of its target, so that the link survives.
func (f file) path() string {
	path := filepath.Join(f.home, fileName)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// load returns the login in the file, or nil if the file does not exist. The error names the file, and the link to it,
// and has no part of it.
func (f file) load() (*Login, error) {
	path := f.path()
	l, err := f.read(path)
	if link := filepath.Join(f.home, fileName); err != nil && filepath.Base(path) != fileName {
		return nil, fmt.Errorf("the login cannot be read through the link %s: %w", link, err)
	}
	return l, err
}

func (f file) read(path string) (*Login, error) {
	in, info, err := disk.Open(f.disk, path, os.O_RDONLY)
	if disk.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info.Size() > maxFile {
		return nil, damaged(path, fmt.Errorf("it is larger than %d bytes", maxFile))
	}
	text, err := disk.ReadAll(in, info.Size())
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	l, err := parse(text)
	if err != nil {
		return nil, damaged(path, err)
	}
	l.place = inFile
	return l, nil
}

func damaged(path string, reason error) error {
	return fmt.Errorf("%s is damaged: %w; it is left as it is: move it away, and sign in again", path, reason)
}

// save replaces the file durably. It is readable by its owner only.
func (f file) save(text []byte) error {
	path := f.path()
	return disk.Wrap("write", path, disk.Replace(f.disk, path, text))
}

// remove removes the file, and reports whether it existed.
func (f file) remove() (bool, error) {
	path := f.path()
	if err := f.disk.Remove(path); disk.IsNotExist(err) {
		return false, nil
	} else if err != nil {
		return false, disk.Wrap("remove", path, err)
	}
	return true, disk.Wrap("remove", path, f.disk.SyncDir(filepath.Dir(path)))
}

// lock acquires locks in this order, and returns the function that releases them.
func (f file) lock(ctx context.Context, names ...string) (unlock func(), err error) {
	var held []io.Closer
	unlock = func() {
		for i := len(held) - 1; i >= 0; i-- {
			_ = held[i].Close()
		}
	}
	if err := f.disk.MkdirAll(f.home, disk.DirMode); err != nil {
		return nil, disk.Wrap("create", f.home, err)
	}
	for _, name := range names {
		lock, err := disk.LockContext(ctx, f.disk, filepath.Join(f.home, name), lockTime)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, lock)
	}
	return unlock, nil
}
