package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"appserver/platform/osfile"
	"appserver/protocol"
)

// absolute returns a client's path in its shortest form. Each .. removes a name, even the name of a
// link.
func absolute(field, path string) (string, error) {
	switch {
	case !filepath.IsAbs(path):
		return "", protocol.InvalidParams(field, "`%s` must be an absolute path", field)
	case strings.ContainsRune(path, 0):
		return "", protocol.InvalidParams(field, "`%s` holds a NUL character", field)
	}
	return filepath.Clean(path), nil
}

// fileError adds the path to an error of a file operation. The text is the system's, as in the
// reference implementation.
func fileError(path string, err error) error {
	var refusal *protocol.Error
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	var number syscall.Errno
	if !errors.As(err, &number) {
		return protocol.Internal(protocol.KindFile, "%s: %v", path, err)
	}
	text := number.Error()
	first, n := utf8.DecodeRuneInString(text)
	return protocol.Internal(kindOf(err), "%s: %s%s (os error %d)", path, strings.ToUpper(string(first)), text[n:],
		int(number))
}

func kindOf(err error) protocol.Kind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return protocol.KindFileNotFound
	case osfile.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), osfile.Is(err, syscall.ELOOP):
		return protocol.KindFileType
	case errors.Is(err, fs.ErrExist): // a directory that is not empty, too
		return protocol.KindFileExists
	case errors.Is(err, fs.ErrPermission), osfile.Is(err, syscall.EROFS):
		return protocol.KindFileAccess
	}
	return protocol.KindFile
}

// openRegular opens a regular file. It never blocks, for example on a FIFO.
func openRegular(path string, flags int, mode os.FileMode) (*os.File, os.FileInfo, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, notRegular(path) // opening a device can have effects
	}
	file, err := osfile.Open(path, flags, mode)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		file.Close()
		return nil, nil, fileError(path, err)
	}
	return file, info, nil
}

func notRegular(path string) error {
	return protocol.Refuse(protocol.KindFileType, "path `%s` is not a file", path)
}
