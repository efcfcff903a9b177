package disk

import (
	"bufio"
	"cmp"
	"io"
	"path/filepath"
)

const (
	// TempSuffix is the suffix of temporary files. They are beside the file that they replace.
	TempSuffix = ".tmp"
	// WriteSize is the size of buffered writes, in bytes.
	WriteSize = 64 << 10
	// earlySyncSize is the number of bytes that the system begins to store while further ones are written.
	earlySyncSize = 8 << 20
)

// TempFile is a file that is written under a temporary name and then renamed.
type TempFile struct {
	fs FS
	// Path is the temporary name.
	Path string
}

// NewTempFile returns the temporary file of the file at path. It creates nothing.
func NewTempFile(fs FS, path string) TempFile { return TempFile{fs, path + TempSuffix} }

// TempFileAt returns a temporary file with a name of its own.
func TempFileAt(fs FS, name string) TempFile { return TempFile{fs, name} }

// Publish durably renames the temporary file to path, or removes it if err is not nil. It
// returns the first error.
func (t TempFile) Publish(err error, path string) error {
	if err == nil {
		err = t.fs.Rename(t.Path, path)
	}
	if err != nil {
		_ = t.fs.Remove(t.Path) // the next writer tries again
		return err
	}
	return t.fs.SyncDir(filepath.Dir(path))
}

// LinkOrCopy makes the temporary file a hard link to path. On a disk without hard links it
// writes the content instead.
func (t TempFile) LinkOrCopy(path string, content func() ([]byte, error)) error {
	if err := t.Remove(); err != nil {
		return err
	}
	if t.fs.Link(path, t.Path) == nil {
		return nil
	}
	return t.Copy(content)
}

// Copy creates the temporary file with the content, durably.
func (t TempFile) Copy(content func() ([]byte, error)) error {
	data, err := content()
	if err != nil {
		return err
	}
	return t.Write(func(out io.Writer) error {
		_, err := out.Write(data)
		return err
	})
}

// Write creates the temporary file with durable content.
func (t TempFile) Write(fill func(out io.Writer) error) error {
	file, err := t.Create()
	if err != nil {
		return err
	}
	counted := &countingFile{File: file}
	buffered := bufio.NewWriterSize(counted, WriteSize)
	err = fill(buffered)
	for _, step := range []func() error{buffered.Flush, file.Sync, counted.verify} {
		if err == nil {
			err = step()
		}
	}
	return cmp.Or(err, file.Close())
}

// Create creates the temporary file. A leftover is removed and never written to, because it
// may be a hard link to another file.
func (t TempFile) Create() (File, error) {
	if err := t.Remove(); err != nil {
		return nil, err
	}
	return Create(t.fs, t.Path)
}

// Remove removes the temporary file, if it exists.
func (t TempFile) Remove() error {
	if err := t.fs.Remove(t.Path); err != nil && !IsNotExist(err) {
		return err
	}
	return nil
}

// Replace replaces the content of a file, atomically and durably.
func Replace(fs FS, path string, content []byte) error {
	temp := NewTempFile(fs, path)
	return temp.Publish(temp.Copy(func() ([]byte, error) { return content, nil }), path)
}

// earlySyncer is a file that can begin to store written bytes before Sync. It makes nothing durable.
type earlySyncer interface {
	StartSync(offset, size int64)
}

// countingFile counts the bytes written to a new file. It has the system store them early, so that the final Sync of a
// large file waits for the last ones only. It overrides Write of its file.
type countingFile struct {
	File
	size int64
	// begun is the number of bytes that the system has begun to store.
	begun int64
}

// Write writes p and counts it.
func (c *countingFile) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	c.size += int64(n)
	if early, ok := c.File.(earlySyncer); ok && c.size-c.begun >= earlySyncSize {
		early.StartSync(c.begun, c.size-c.begun)
		c.begun = c.size
	}
	return n, err
}

func (c *countingFile) verify() error {
	info, err := c.Stat()
	if err == nil && info.Size() != c.size {
		err = io.ErrShortWrite
	}
	return err
}
