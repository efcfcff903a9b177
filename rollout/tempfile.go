package rollout

import (
	"bufio"
	"io"
	"path/filepath"
)

// substitute is a file that is made under a temporary name, and then takes another's
// place.
type tempFile struct {
	store *Store
	path  string
}

// putInPlace gives the temporary file another name, or removes it where an error says
// that it is no good.
func (s tempFile) publish(err error, path string) error {
	if err == nil {
		err = s.store.disk.Rename(s.path, path)
	}
	if err != nil {
		_ = s.store.disk.Remove(s.path) // whoever needs the name next tries again
		return err
	}
	return s.store.disk.SyncDir(filepath.Dir(path))
}

// second gives a file the temporary name or, where there are no links, makes that a copy
// of its content.
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

// write makes the temporary file, and makes its content durable.
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

// make makes the temporary file. A leftover of an earlier one may be a second name of the
// rollout, so it is removed, never written to.
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

// writeSize is what a rewrite hands to the system at once, in bytes.
const writeSize = 64 << 10

// counter counts what is written to a new file.
type countingFile struct {
	File
	size int64
}

// Write counts.
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
