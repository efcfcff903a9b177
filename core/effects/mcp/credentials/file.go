package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"appserver/platform/disk"
	"appserver/protocol"
)

const (
	fileName   = ".credentials.json"
	lockFolder = "mcp-oauth-locks"
	// storeLock is the lock for changes of the file.
	storeLock = "file-store.lock"
	// maxFile bounds the size of the file, in bytes.
	maxFile = 16 << 20
	// lockTime bounds the wait for a lock. A holder may wait for a response of a server.
	lockTime = time.Minute
)

// file is the file with logins in a home.
type file struct {
	home string
	disk disk.FS
}

func (f file) path() string { return filepath.Join(f.home, fileName) }

// read returns the entries, or none if the file does not exist. Entries of other programs are kept as they are.
func (f file) read() (map[string]json.RawMessage, error) {
	in, info, err := disk.Open(f.disk, f.path(), os.O_RDONLY)
	if disk.IsNotExist(err) {
		return map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes: move it away, and log in again", f.path(), maxFile)
	}
	text, err := disk.ReadAll(in, info.Size())
	if err != nil {
		return nil, disk.Wrap("read", f.path(), err)
	}
	entries := map[string]json.RawMessage{}
	if err := protocol.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object with logins: move it away, and log in again", f.path())
	}
	return entries, nil
}

func (f file) load(server, url string) (*Login, error) {
	entries, err := f.read()
	if err != nil {
		return nil, err
	}
	raw, ok := entries[Key(server, url)]
	if !ok {
		return nil, nil
	}
	var e fileEntry
	if protocol.Unmarshal(raw, &e) != nil {
		return nil, fmt.Errorf("the entry %s of %s cannot be read: remove it, and log in again", Key(server, url), f.path())
	}
	l := e.login()
	return l, l.is(server, url)
}

func (f file) save(l *Login) error {
	raw, err := protocol.Marshal(l.toFile())
	if err != nil {
		return err
	}
	return f.change(func(entries map[string]json.RawMessage) bool {
		entries[Key(l.Server, l.URL)] = raw
		return true
	})
}

func (f file) remove(server, url string) (removed bool, err error) {
	if _, err := f.disk.Stat(f.path()); disk.IsNotExist(err) {
		return false, nil
	}
	err = f.change(func(entries map[string]json.RawMessage) bool {
		_, removed = entries[Key(server, url)]
		delete(entries, Key(server, url))
		return removed
	})
	return removed, err
}

// change replaces the file durably if do reports a change. A file without entries is removed.
func (f file) change(do func(map[string]json.RawMessage) bool) error {
	lock, err := f.lock(context.Background(), storeLock)
	if err != nil {
		return err
	}
	defer lock.Close()
	entries, err := f.read()
	if err != nil || !do(entries) {
		return err
	}
	if len(entries) == 0 {
		if err := f.disk.Remove(f.path()); err != nil {
			return disk.Wrap("remove", f.path(), err)
		}
		return f.disk.SyncDir(f.home)
	}
	text, err := protocol.Marshal(entries)
	if err != nil {
		return err
	}
	return disk.Wrap("write", f.path(), disk.Replace(f.disk, f.path(), text))
}

// lock acquires a lock that other processes share, and waits for it.
func (f file) lock(ctx context.Context, name string) (io.Closer, error) {
	folder := filepath.Join(f.home, lockFolder)
	if err := f.disk.MkdirAll(folder, 0o700); err != nil {
		return nil, disk.Wrap("create", folder, err)
	}
	return disk.LockContext(ctx, f.disk, filepath.Join(folder, name), lockTime)
}

// lockName returns the name of the lock of a login.
func lockName(server, url string) string {
	sum := sha256.Sum256([]byte(Key(server, url)))
	return hex.EncodeToString(sum[:]) + ".lock"
}
