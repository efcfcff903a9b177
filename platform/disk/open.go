package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxSize is the size of the largest file that is read into memory, in bytes.
const MaxSize = 2 << 30

// ErrTooLarge is the error of a file above MaxSize.
var ErrTooLarge = Cause{"it is larger than 2 GiB", "the file is unchanged; it can still be resumed and read"}

// Open opens a regular file, or a symbolic link to one. Anything else is a *KindError.
func Open(disk FS, path string, flag int) (File, fs.FileInfo, error) {
	f, err := disk.OpenFile(path, flag, FileMode)
	if err != nil {
		return nil, nil, Wrap("open", path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &KindError{path, info.Mode()}
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, Wrap("open", path, err)
	}
	return f, info, nil
}

// Create creates a file that must not exist, and its folders.
func Create(disk FS, path string) (File, error) {
	if err := disk.MkdirAll(filepath.Dir(path), DirMode); err != nil {
		return nil, err
	}
	return disk.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, FileMode)
}

// IsUnchanged reports whether two descriptions are of the same file with the same content. It
// compares the modification time too, because a new file may have the inode number of the old
// one.
func IsUnchanged(disk FS, before, now fs.FileInfo) bool {
	return disk.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// ReadContent reads the whole content of a file. A compressed file that is damaged is an error.
func ReadContent(file File, info fs.FileInfo) ([]byte, error) {
	length, err := Length(file, info)
	if err == nil {
		err = Problem(file)
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(file, length)
}

// ReadAll reads size bytes, or fewer if the file is shorter by now. It uses several
// goroutines, because most of its time is spent on page faults of the new buffer.
func ReadAll(file File, size int64) ([]byte, error) {
	if size > MaxSize {
		return nil, ErrTooLarge
	}
	data := make([]byte, size)
	n := Workers(len(data))
	read := make([]int, n)
	errs := make([]error, n)
	Parallel(n, func(i int) {
		part := data[len(data)*i/n : len(data)*(i+1)/n]
		read[i], errs[i] = file.ReadAt(part, int64(len(data)*i/n))
	})
	for i, err := range errs {
		if errors.Is(err, io.EOF) {
			return data[:len(data)*i/n+read[i]], nil
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}
