package config

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"appserver/core/pure/tomledit"
	"appserver/platform/osfile"
	"appserver/protocol"
)

// Live is the configuration of a running server. Clients can change it.
type Live struct {
	// Changed is called with each new configuration, in order; it may be nil. It is set before the first change.
	Changed func(*Config)

	source  Source
	current atomic.Pointer[Config]
	writing sync.Mutex
}

// NewLive returns a Live with the result of Load for the source.
func NewLive(o Source, c *Config) *Live {
	l := &Live{source: o}
	l.current.Store(c)
	return l
}

// Current returns the effective configuration.
func (l *Live) Current() *Config { return l.current.Load() }

// apply makes a configuration the current one, for a caller that holds the lock.
func (l *Live) apply(next *Config) {
	l.current.Store(next)
	if l.Changed != nil {
		l.Changed(next)
	}
}

// View returns the effective configuration in cwd, an absolute path, or outside of projects if cwd
// is empty.
func (l *Live) View(cwd string, includeLayers bool) (protocol.ConfigReadResponse, error) {
	c, err := l.Current().For(cwd, nil)
	if err != nil {
		return protocol.ConfigReadResponse{}, err
	}
	return c.View(includeLayers), nil
}

// Write edits the user's file, and applies the result. It writes all edits or none. It rejects a
// result that cannot be loaded, and a file that has changed since the caller read it. Other servers
// of this home wait meanwhile.
func (l *Live) Write(p *protocol.ConfigBatchWriteParams) (protocol.ConfigWriteResponse, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.edit(p)
}

// edit does the same as Write, for a caller that holds the lock.
func (l *Live) edit(p *protocol.ConfigBatchWriteParams) (protocol.ConfigWriteResponse, error) {
	w, err := l.startWrite(p)
	if err != nil {
		return protocol.ConfigWriteResponse{}, err
	}
	defer w.close()
	edits, err := editsOf(p.Edits)
	if err != nil {
		return protocol.ConfigWriteResponse{}, err
	}
	next, err := w.write(edits)
	if next != nil {
		l.apply(next) // equals the content of the file
	}
	if err != nil {
		return protocol.ConfigWriteResponse{}, err
	}
	return next.writeResponse(w.named, edits), nil
}

// write is one write of the configuration, under the lock of the home.
type write struct {
	source Source
	// named is the file's name, and file the name with its links resolved.
	named, file string
	lock        *os.File
	text        []byte
}

func (l *Live) startWrite(p *protocol.ConfigBatchWriteParams) (*write, error) {
	home := l.source.Home
	w := &write{source: l.source, named: filepath.Join(home, "config.toml")}
	named, decode, err := settingsFile(home)
	switch {
	case home == "":
		return nil, readOnly("there is no home to write the configuration to")
	case err != nil:
		return nil, invalid(err)
	case named != w.named:
		return nil, readOnly(named + " is not written: put its settings into config.toml, or edit it yourself")
	case p.FilePath != nil && filepath.Clean(*p.FilePath) != w.named:
		return nil, readOnly("Only writes to the user config are allowed: leave filePath out, or give " + w.named)
	}
	w.file = w.named
	if real, err := filepath.EvalSymlinks(w.named); err == nil {
		w.file = real
	}
	if err := w.open(home); err != nil {
		return nil, protocol.Internal(protocol.KindStorage, "the configuration cannot be written: %s", explain(err))
	}
	if err = w.check(decode, p.ExpectedVersion); err != nil {
		w.close()
	}
	return w, err
}

// open acquires the lock of the home and reads the file.
func (w *write) open(home string) (err error) {
	if w.lock, err = osfile.OpenLock(home); err != nil {
		return err
	}
	if err = lockFor(w.lock, lockTime); err == nil {
		w.text, err = readFile(w.file, "")
		w.text = bytes.TrimPrefix(w.text, []byte("\xef\xbb\xbf"))
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w.close()
	return err
}

// lockTime bounds the wait for another program's lock. The connection of the request waits as well,
// and a suspended program must not block it forever.
const lockTime = time.Second

var errLocked = errors.New("another program is writing it; try again")

func lockFor(f *os.File, within time.Duration) error {
	for deadline := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		held, err := osfile.TryLock(f)
		switch {
		case held || err != nil:
			return err
		case time.Now().After(deadline):
			return errLocked
		}
	}
}

func (w *write) close() { _ = w.lock.Close() }

// check rejects a file that is not a configuration, or that has another version.
func (w *write) check(decode decodeFunc, version *string) error {
	l, err := decodeLayer(userSource(w.named), w.text, decode)
	switch {
	case err != nil:
		return invalid(err)
	case version != nil && *version != l.version():
		return protocol.ConfigWriteError(protocol.KindConfigVersion,
			"Configuration was modified since last read. Fetch latest version and retry.")
	}
	return nil
}

func (w *write) write(edits []tomledit.Edit) (*Config, error) {
	text, err := tomledit.Apply(w.text, edits...)
	if err != nil {
		return nil, invalid(err)
	}
	if len(text) > maxFileBytes {
		return nil, invalid(fmt.Errorf("%s would be larger than %d bytes", w.named, maxFileBytes))
	}
	next, err := w.source.with(w.named, text)
	if err != nil {
		return nil, invalid(err)
	}
	if !bytes.Equal(text, w.text) {
		err := w.replace(text)
		if unsynced := new(unsyncedError); errors.As(err, &unsynced) {
			return next, protocol.Internal(protocol.KindStorage, "%s was written, but may be lost in a power failure: %v",
				w.named, err)
		}
		if err != nil {
			return nil, protocol.Internal(protocol.KindStorage, "%s cannot be written: %s", w.named, explain(err))
		}
	}
	return next, nil
}

// replace replaces the file atomically. After that, only a sync of the folder can fail, which
// returns an *unsyncedError.
func (w *write) replace(text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(w.file); err == nil {
		mode = info.Mode().Perm()
	}
	next, err := w.temporary()
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // fails after the rename
	_, err = next.Write(text)
	err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close())
	if err == nil {
		err = osfile.Rename(next.Name(), w.file)
	}
	if err != nil {
		return err
	}
	if err := osfile.SyncFolder(filepath.Dir(w.file)); err != nil {
		return &unsyncedError{err}
	}
	return nil
}

// temporary creates the new file. Its name is derived from the home, whose lock is held. So the
// next write finds and removes the file of a killed one.
func (w *write) temporary() (*os.File, error) {
	home := fnv.New32a()
	_, _ = home.Write([]byte(w.source.Home)) // never fails
	path := filepath.Join(filepath.Dir(w.file), fmt.Sprintf(".config.toml.%08x", home.Sum32()))
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// explain returns the cause of an error and the next action. It omits the path, which names a temporary
// file.
func explain(err error) string {
	text := err.Error()
	if system := syscall.Errno(0); errors.As(err, &system) {
		text = system.Error()
	}
	for _, known := range []struct {
		err    error
		advice string
	}{
		{syscall.ENOSPC, "free space on this disk and try again"},
		{syscall.EROFS, "make the disk writable, or set CODEX_HOME to another folder"},
		{syscall.EMFILE, "raise the limit of open files (ulimit -n)"},
		{syscall.EFBIG, "raise the limit of file sizes (ulimit -f) and try again"},
		{fs.ErrPermission, "give this user access to the folder"},
	} {
		if osfile.Is(err, known.err) {
			return text + ": " + known.advice
		}
	}
	return text
}

// unsyncedError is the error of a file whose new content may be lost in a power failure.
type unsyncedError struct{ error }

func (e *unsyncedError) Unwrap() error { return e.error }

// editsOf decodes the edits.
func editsOf(in []protocol.ConfigEdit) ([]tomledit.Edit, error) {
	var out []tomledit.Edit
	for _, e := range in {
		if strings.TrimSpace(e.KeyPath) == "" {
			return nil, invalid(errors.New("keyPath must not be empty"))
		}
		path, err := keyPath(e.KeyPath)
		if err != nil {
			return nil, invalid(errors.New("keyPath segments must not be empty: " + e.KeyPath))
		}
		value, err := decodeJSON(e.Value)
		if err != nil {
			return nil, invalid(fmt.Errorf("%s: %w", e.KeyPath, err))
		}
		out = append(out, tomledit.Edit{Path: path, Value: value, Merge: e.MergeStrategy == protocol.MergeUpsert})
	}
	return out, nil
}

// writeResponse returns the response to a write. If a stronger layer hides values, it names the first.
func (c *Config) writeResponse(file string, edits []tomledit.Edit) protocol.ConfigWriteResponse {
	user := slices.IndexFunc(c.layers, func(l *layer) bool { return l.name.Type == protocol.LayerUser })
	stronger := c.layers[user+1:]
	out := protocol.ConfigWriteResponse{Status: "ok", Version: c.layers[user].version(), FilePath: file}
	for _, e := range edits {
		i := slices.IndexFunc(stronger, func(l *layer) bool { return l.root.find(e.Path...) != nil })
		if i < 0 {
			continue
		}
		over := stronger[i]
		out.Status = "okOverridden"
		out.OverriddenMetadata = &protocol.OverriddenMetadata{
			Message:         "the server's command line also sets " + dotted(e.Path) + ", and overrides the file",
			OverridingLayer: over.metadata(), EffectiveValue: conceal(e.Path, over.root.find(e.Path...).plain()),
		}
		break
	}
	return out
}

func invalid(err error) error {
	return protocol.ConfigWriteError(protocol.KindConfigValidation, "Invalid configuration: "+err.Error())
}

func readOnly(message string) error {
	return protocol.ConfigWriteError(protocol.KindConfigReadonly, message)
}
