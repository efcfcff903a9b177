package host

import (
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"appserver/protocol"
)

const (
	// maxFile is the maximum size of a file to read, in bytes. As base64 it fills the longest line
	// that the server accepts, so that the result can be written.
	maxFile = 48 << 20
	// maxWaiting is the maximum number of bytes of a connection that wait to be written, unless one
	// file has more.
	maxWaiting = 64 << 20
	// maxEntries is the maximum number of names in a listed directory.
	maxEntries = 100_000
)

// FsReadFile reads a file.
func (h *Host) FsReadFile(to protocol.Caller, p *protocol.FsReadFileParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(*connection) (any, error) {
		data, err := readFile(path)
		return protocol.FsReadFileResponse{DataBase64: base64.StdEncoding.EncodeToString(data)}, err
	})
}

func readFile(path string) ([]byte, error) {
	file, info, err := openRegular(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > maxFile {
		return nil, tooLarge(path)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = tooLarge(path)
	}
	return data, fileError(path, err)
}

func tooLarge(path string) error {
	return protocol.Refuse(protocol.KindFileTooLarge, "%s has more than %d bytes: read it in parts with command/exec",
		path, maxFile)
}

// FsWriteFile writes a file. If the disk fails, a part can be written.
func (h *Host) FsWriteFile(to protocol.Caller, p *protocol.FsWriteFileParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	data, err := base64.StdEncoding.Strict().DecodeString(p.DataBase64)
	if err != nil {
		return protocol.InvalidParams("dataBase64", "fs/writeFile requires valid base64 dataBase64: %v", err)
	}
	d, err := h.connection(to.Conn)
	if err == nil {
		err = d.hold(len(data))
	}
	if err != nil {
		return err
	}
	return h.inOrder(to, func(*connection) (any, error) {
		defer d.held(len(data))
		return protocol.Empty{}, writeFile(path, data)
	})
}

// hold reserves room for data that waits to be written, and held frees it.
func (d *connection) hold(bytes int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waiting > 0 && d.waiting+bytes > maxWaiting {
		return overloaded("%d bytes are not written yet: wait for the answers to fs/writeFile", d.waiting)
	}
	d.waiting += bytes
	return nil
}

func (d *connection) held(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting -= bytes
}

func writeFile(path string, data []byte) error {
	file, _, err := openRegular(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return fileError(path, err)
}

// FsCreateDirectory makes a directory.
func (h *Host) FsCreateDirectory(to protocol.Caller, p *protocol.FsCreateDirectoryParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(*connection) (any, error) {
		if yes(p.Recursive) {
			return protocol.Empty{}, fileError(path, makeAll(path))
		}
		return protocol.Empty{}, fileError(path, os.Mkdir(path, 0o777))
	})
}

// makeAll does the same as os.MkdirAll, but returns an error that matches fs.ErrExist if the last
// directory is a file.
func makeAll(path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return syscall.EEXIST
	}
	return os.MkdirAll(path, 0o777)
}

// yes returns the value of a switch that is on by default.
func yes(set *bool) bool { return set == nil || *set }

// FsGetMetadata returns the metadata of a path.
func (h *Host) FsGetMetadata(to protocol.Caller, p *protocol.FsGetMetadataParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(*connection) (any, error) {
		m, err := metadata(path)
		return m, fileError(path, err)
	})
}

func metadata(path string) (m protocol.FsGetMetadataResponse, err error) {
	itself, err := os.Lstat(path)
	if err != nil {
		return m, err
	}
	target, err := os.Stat(path)
	if err != nil {
		return m, err
	}
	return protocol.FsGetMetadataResponse{
		IsDirectory: target.IsDir(), IsFile: target.Mode().IsRegular(), IsSymlink: itself.Mode()&os.ModeSymlink != 0,
		CreatedAtMs: createdAt(path), ModifiedAtMs: max(target.ModTime().UnixMilli(), 0),
	}, nil
}

// FsReadDirectory lists a directory.
func (h *Host) FsReadDirectory(to protocol.Caller, p *protocol.FsReadDirectoryParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(*connection) (any, error) {
		entries, err := listDirectory(path)
		return protocol.FsReadDirectoryResponse{Entries: entries}, fileError(path, err)
	})
}

func listDirectory(path string) ([]protocol.FsReadDirectoryEntry, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	found, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(found) > maxEntries {
		return nil, protocol.Refuse(protocol.KindFileTooLarge, "%s has %d entries, more than %d: list it with command/exec",
			path, len(found), maxEntries)
	}
	entries := []protocol.FsReadDirectoryEntry{}
	for _, entry := range found {
		mode := entry.Type()
		if mode&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(path, entry.Name()))
			if err != nil {
				continue
			}
			mode = info.Mode()
		}
		entries = append(entries,
			protocol.FsReadDirectoryEntry{FileName: entry.Name(), IsDirectory: mode.IsDir(), IsFile: mode.IsRegular()})
	}
	return entries, nil
}

// FsRemove removes the entry at a path.
func (h *Host) FsRemove(to protocol.Caller, p *protocol.FsRemoveParams) error {
	path, err := absolute("path", p.Path)
	if err != nil {
		return err
	}
	if path == filepath.Dir(path) {
		return protocol.InvalidParams("path", "the root of the file system is not removed")
	}
	return h.inOrder(to, func(*connection) (any, error) {
		err := remove(path, yes(p.Recursive))
		if yes(p.Force) && kindOf(err) == protocol.KindFileNotFound {
			err = nil
		}
		return protocol.Empty{}, fileError(path, err)
	})
}

func remove(path string, recursive bool) error {
	if _, err := os.Lstat(path); err != nil || !recursive {
		if err == nil {
			err = os.Remove(path)
		}
		return err
	}
	return os.RemoveAll(path)
}
