package listing

import (
	"cmp"
	"errors"
	"io"
	"os"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// Lister reads heads and lists of one home.
type Lister struct {
	home        *home.Home
	disk        disk.FS
	chunks      line.ChunkReader
	updateTimes updateTimes
}

// New returns a lister. The chunks are those in which files with long first lines are read.
func New(h *home.Home, chunks line.ChunkReader) *Lister {
	return &Lister{home: h, disk: h.Disk(), chunks: chunks}
}

// ListedHead returns the head of a rollout, and whether List includes it. The error explains
// why that is unknown.
func (l *Lister) ListedHead(root, rel string) (h Head, listed bool, err error) {
	reader := headReader{lister: l}
	return reader.readListed(l.home.AbsPath(root, rel))
}

// SkipReason returns the error with which List skips a file of a root. It returns nil if List
// does not skip the file, or if the file does not exist.
func (l *Lister) SkipReason(root, rel string) error {
	path := l.home.AbsPath(root, rel)
	if _, err := l.disk.Lstat(path); err != nil {
		return nil
	}
	file, info, err := disk.Open(l.disk, path, os.O_RDONLY)
	if err != nil {
		return err
	}
	switch c, compressed := file.(disk.Compressed); {
	case compressed:
		err = checkContent(c, path)
	case info.Size() == 0 && !l.home.IsEmptied(path):
		err = disk.Wrap("list", path, errEmpty)
	}
	return cmp.Or(err, file.Close())
}

// checkContent returns an error if a compressed file has no content that can be read.
func checkContent(file disk.Compressed, path string) error {
	n, err := file.ReadAt(make([]byte, 1), 0)
	switch {
	case n > 0:
		return nil
	case err != nil && !errors.Is(err, io.EOF):
		return disk.Wrap("read", path, err)
	case file.Problem() != nil:
		return disk.Wrap("read", path, file.Problem())
	}
	return disk.Wrap("list", path, errEmpty)
}

// CheckSound returns an error unless the start of a rollout has a sound line.
func (l *Lister) CheckSound(path string) error {
	reader := headReader{lister: l}
	found, err := reader.read(path)
	if err == nil && !found.lines {
		err = errNoLine
	}
	return err
}
