package rollout

import (
	"bufio"
	"io"
	"path/filepath"
)

// tempFile is a file that is written under a temporary name and then renamed.
type tempFile struct {
	store *Store
	path  string
}

// publish renames the temporary file to path, or removes it if err is not nil.
func (s tempFile) publish(err error, path string) error {
	if err == nil {
		err = s.store.disk.Rename(s.path, path)
	}
	if err != nil {
		_ = s.store.disk.Remove(s.path) // the next writer tries again
		return err
	}
	return s.store.disk.SyncDir(filepath.Dir(path))
}

// linkOrCopy makes the temporary file a hard link to path, or a copy on a disk without hard
// links.
func (s tempFile) linkOrCopy(path string, content func() ([]byte, error)) error {
	if err := s.remove(); err != nil {
		return err
	}
	if s.store.disk.Link(path, s.path) == nil {
		return nil
	}
	return s.copy(content)
}

func (s tempFile) copy(content func() ([]byte, error)) error {
	data, err := content()
	if err != nil {
		return err
	}
	return s.write(func(out *paddedWriter) error {
		_, err := out.Write(data)
		return err
	})
}

// write creates the temporary file with durable content.
func (s tempFile) write(fill func(*paddedWriter) error) error {
	file, err := s.create()
	if err != nil {
		return err
	}
	counted := &countingFile{File: file}
	buffered := bufio.NewWriterSize(counted, writeSize)
	err = fill(&paddedWriter{out: buffered})
	for _, step := range []func() error{buffered.Flush, file.Sync, counted.verify} {
		if err == nil {
			err = step()
		}
	}
	return firstError(err, file.Close())
}

// create creates the temporary file. A leftover is removed and never written to, because it
// may be a hard link to the rollout.
func (s tempFile) create() (File, error) {
	if err := s.remove(); err != nil {
		return nil, err
	}
	return s.store.create(s.path)
}

func (s tempFile) remove() error {
	if err := s.store.disk.Remove(s.path); err != nil && !isNotExist(err) {
		return err
	}
	return nil
}

// writeSize is the size of writes during a rewrite, in bytes.
const writeSize = 64 << 10

// countingFile counts the bytes written to a new file.
type countingFile struct {
	File
	size int64
}

// Write writes p and counts it.
func (c *countingFile) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.size += int64(n)
	return n, err
}

func (c *countingFile) verify() error {
	info, err := c.Stat()
	if err == nil && info.Size() != c.size {
		err = io.ErrShortWrite
	}
	return err
}
