package host

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"appserver/protocol"
)

// FsCopy copies a file, a link or a directory. The end of the connection stops it, with a part copied.
func (h *Host) FsCopy(to protocol.Caller, p *protocol.FsCopyParams) error {
	source, err := absolute("sourcePath", p.SourcePath)
	if err != nil {
		return err
	}
	target, err := absolute("destinationPath", p.DestinationPath)
	if err != nil {
		return err
	}
	return h.inOrder(to, func(d *connection) (any, error) {
		return protocol.Empty{}, copyAny(d.ctx, source, target, p.Recursive)
	})
}

func copyAny(ctx context.Context, source, target string, recursive bool) error {
	info, err := os.Lstat(source)
	if err != nil {
		return fileError(source, err)
	}
	switch mode := info.Mode(); {
	case mode.IsDir() && !recursive:
		return protocol.Refuse(protocol.KindFileType, "fs/copy requires recursive: true when sourcePath is a directory")
	case mode.IsDir() && within(target, source):
		return protocol.Refuse(protocol.KindFileType, "fs/copy cannot copy a directory to itself or one of its descendants")
	case mode.IsDir(), mode.IsRegular(), mode&os.ModeSymlink != 0:
		return copyEntry(ctx, source, target, mode)
	}
	return protocol.Refuse(protocol.KindFileType, "fs/copy only supports regular files, directories, and symlinks")
}

// within reports whether a path, or its future path, is a directory or lies in it.
func within(path, dir string) bool {
	path, dir = resolved(path), resolved(dir)
	return path == dir || strings.HasPrefix(path, prefix(dir))
}

// resolved returns a path with its links resolved, as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if path == filepath.Dir(path) {
		return path
	}
	return filepath.Join(resolved(filepath.Dir(path)), filepath.Base(path))
}

// copyEntry copies a file, a directory or a link. It skips everything else.
func copyEntry(ctx context.Context, source, target string, mode os.FileMode) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case mode.IsDir():
		return copyTree(ctx, source, target)
	case mode&os.ModeSymlink != 0:
		return copyLink(source, target)
	case mode.IsRegular():
		return copyFile(ctx, source, target)
	}
	return nil
}

func copyTree(ctx context.Context, source, target string) error {
	if err := makeAll(target); err != nil {
		return fileError(target, err)
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return fileError(source, err)
	}
	for _, entry := range entries {
		if err := copyEntry(ctx, filepath.Join(source, entry.Name()), filepath.Join(target, entry.Name()),
			entry.Type()); err != nil {
			return err
		}
	}
	return nil
}

func copyLink(source, target string) error {
	to, err := os.Readlink(source)
	if err != nil {
		return fileError(source, err)
	}
	return fileError(target, os.Symlink(to, target))
}

// copyFile copies content and permissions.
func copyFile(ctx context.Context, source, target string) error {
	from, info, err := openRegular(source, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	if there, err := os.Stat(target); err == nil && os.SameFile(info, there) {
		return protocol.Refuse(protocol.KindFileExists, "%s and %s are the same file", source, target)
	}
	to, _, err := openRegular(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	err = copyContent(ctx, to, from)
	if err == nil {
		err = to.Chmod(info.Mode().Perm())
	}
	if closed := to.Close(); err == nil {
		err = closed
	}
	return fileError(target, err)
}

// copyPiece is the number of bytes copied between two checks of the context.
const copyPiece = 64 << 20

func copyContent(ctx context.Context, to io.Writer, from io.Reader) error {
	for ctx.Err() == nil {
		if _, err := io.CopyN(to, from, copyPiece); err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
	}
	return ctx.Err()
}
