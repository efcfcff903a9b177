package rollout

import (
	"bufio"
	"io"
	"path/filepath"
)

// substitute is a file that is made under a temporary name, and then takes another's
// place.
type substitute struct {
	store     *Store
	temporary string
}

// putInPlace gives the temporary file another name, or removes it where an error says
// that it is no good.
func (s substitute) putInPlace(err error, path string) error {
	if err == nil {
		err = s.store.disk.Rename(s.temporary, path)
	}
	if err != nil {
		_ = s.store.disk.Remove(s.temporary) // whoever needs the name next tries again
		return err
	}
	return s.store.disk.SyncDir(filepath.Dir(path))
}

// second gives a file the temporary name or, where there are no links, makes that a copy
// of its content.
func (s substitute) second(path string, content func() ([]byte, error)) error {
	if err := s.clear(); err != nil {
		return err
	}
	if s.store.disk.Link(path, s.temporary) == nil {
		return nil
	}
	return s.copy(content)
}

func (s substitute) copy(content func() ([]byte, error)) error {
	data, err := content()
	if err != nil {
		return err
	}
	return s.write(func(out *placing) error {
		_, err := out.Write(data)
		return err
	})
}

// write makes the temporary file, and makes its content durable.
func (s substitute) write(fill func(*placing) error) error {
	file, err := s.make()
	if err != nil {
		return err
	}
	counted := &counter{File: file}
	buffered := bufio.NewWriterSize(counted, writeSize)
	err = fill(&placing{out: buffered})
	for _, step := range []func() error{buffered.Flush, file.Sync, counted.verify} {
		if err == nil {
			err = step()
		}
	}
	return first(err, file.Close())
}

// make makes the temporary file. A leftover of an earlier one may be a second name of the
// rollout, so it is removed, never written to.
func (s substitute) make() (File, error) {
	if err := s.clear(); err != nil {
		return nil, err
	}
	return s.store.make(s.temporary)
}

func (s substitute) clear() error {
	if err := s.store.disk.Remove(s.temporary); err != nil && !absent(err) {
		return err
	}
	return nil
}

// writeSize is what a rewrite hands to the system at once, in bytes.
const writeSize = 64 << 10

// counter counts what is written to a new file.
type counter struct {
	File
	size int64
}

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.size += int64(n)
	return n, err
}

func (c *counter) verify() error {
	info, err := c.Stat()
	if err == nil && info.Size() != c.size {
		err = io.ErrShortWrite
	}
	return err
}
