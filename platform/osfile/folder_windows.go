package osfile

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Folder is an open folder. Its methods take single names and follow no link.
type Folder struct {
	handle windows.Handle
	path   string
}

const (
	folderAccess = windows.FILE_GENERIC_READ | windows.FILE_TRAVERSE
	shareAll     = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
)

// OpenFolder opens a folder, or a link to one.
func OpenFolder(path string) (*Folder, error) {
	handle, err := createFile(path, folderAccess, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &Folder{handle, path}
	info, err := infoOf(handle)
	if err == nil && info.Kind != fs.ModeDir {
		err = ErrNotFolder
	}
	if err != nil {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return f, nil
}

// createFile opens a file that others may rename and remove.
func createFile(path string, access, disposition, flags uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(longPath(path))
	if err != nil {
		return windows.InvalidHandle, err
	}
	return windows.CreateFile(name, access, shareAll, nil, disposition, flags, 0)
}

// longPath returns the form of an absolute path that has no maximum length.
func longPath(path string) string {
	const maxShort = 247
	full, err := filepath.Abs(path)
	switch {
	case err != nil || len(full) <= maxShort || strings.HasPrefix(full, `\\?\`):
		return path
	case strings.HasPrefix(full, `\\`):
		return `\\?\UNC\` + full[2:]
	}
	return `\\?\` + full
}

// openAt opens or creates a name in the folder, and follows no link.
func (f *Folder) openAt(name string, access, disposition, options uint32) (windows.Handle, error) {
	if name == "" || strings.ContainsAny(name, `\/:`) {
		return windows.InvalidHandle, fs.ErrInvalid // NTFS has several streams of a file, FILE:STREAM
	}
	return openRelative(f.handle, name, access, disposition, options)
}

// openRelative opens or creates a name in a folder, or opens the file of a handle again if the name is empty.
func openRelative(root windows.Handle, name string, access, disposition, options uint32) (windows.Handle, error) {
	text, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return windows.InvalidHandle, err
	}
	at := &windows.OBJECT_ATTRIBUTES{RootDirectory: root, ObjectName: text, Attributes: windows.OBJ_CASE_INSENSITIVE}
	at.Length = uint32(unsafe.Sizeof(*at))
	var handle windows.Handle
	var status windows.IO_STATUS_BLOCK
	options |= windows.FILE_OPEN_REPARSE_POINT | windows.FILE_SYNCHRONOUS_IO_NONALERT | windows.FILE_OPEN_FOR_BACKUP_INTENT
	err = windows.NtCreateFile(&handle, access|windows.SYNCHRONIZE|windows.FILE_READ_ATTRIBUTES, at, &status, nil,
		windows.FILE_ATTRIBUTE_NORMAL, shareAll, disposition, options, 0, 0)
	if err != nil {
		return windows.InvalidHandle, systemError(err)
	}
	return handle, nil
}

func systemError(err error) error {
	if status, ok := errors.AsType[windows.NTStatus](err); ok {
		return status.Errno()
	}
	return err
}

// openKind opens an existing name, which must be of a kind.
func (f *Folder) openKind(name string, access uint32, ok func(fs.FileMode) bool) (windows.Handle, error) {
	handle, err := f.openAt(name, access, windows.FILE_OPEN, 0)
	if err != nil {
		return handle, err
	}
	info, err := infoOf(handle)
	if err == nil && !ok(info.Kind) {
		err = fs.ErrInvalid
		if info.Kind != fs.ModeDir {
			err = ErrNotFolder
		}
	}
	if err != nil {
		_ = windows.CloseHandle(handle)
		return windows.InvalidHandle, err
	}
	return handle, nil
}

func isFolder(kind fs.FileMode) bool   { return kind == fs.ModeDir }
func isNoFolder(kind fs.FileMode) bool { return kind != fs.ModeDir }

// Open opens a folder in this one.
func (f *Folder) Open(name string) (*Folder, error) {
	handle, err := f.openKind(name, folderAccess, isFolder)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &Folder{handle, filepath.Join(f.path, name)}, nil
}

// Close closes the folder.
func (f *Folder) Close() error { return windows.CloseHandle(f.handle) }

// Stat describes a file. It follows no link.
func (f *Folder) Stat(name string) (Info, error) {
	handle, err := f.openAt(name, 0, windows.FILE_OPEN, 0)
	if err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	return infoOf(handle)
}

// InfoOf describes an open file.
func InfoOf(file *os.File) (Info, error) { return infoOf(windows.Handle(file.Fd())) }

func infoOf(handle windows.Handle) (Info, error) {
	var by windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &by); err != nil {
		return Info{}, err
	}
	info := Info{
		Perm: 0o666, Disk: uint64(by.VolumeSerialNumber), File: uint64(by.FileIndexHigh)<<32 | uint64(by.FileIndexLow),
		Size: int64(by.FileSizeHigh)<<32 | int64(by.FileSizeLow), ModTime: by.LastWriteTime.Nanoseconds(),
	}
	if by.FileAttributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
		info.Perm = 0o444
	}
	switch {
	case by.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0:
		info.Kind = reparseKind(handle, by.FileAttributes)
	case by.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		info.Kind, info.Size = fs.ModeDir, 0
	}
	return info, nil
}

// reparseKind returns the kind of a link, or of a file or folder whose content a driver provides.
func reparseKind(handle windows.Handle, attributes uint32) fs.FileMode {
	var tag struct{ attributes, tag uint32 }
	err := windows.GetFileInformationByHandleEx(handle, windows.FileAttributeTagInfo, (*byte)(unsafe.Pointer(&tag)),
		uint32(unsafe.Sizeof(tag)))
	const surrogate = 0x20000000 // the name stands for another one
	switch {
	case err == nil && tag.tag == windows.IO_REPARSE_TAG_SYMLINK:
		return fs.ModeSymlink
	case err != nil || tag.tag&surrogate != 0 || tag.tag == windows.IO_REPARSE_TAG_MOUNT_POINT:
		return fs.ModeIrregular
	case attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0:
		return fs.ModeDir
	}
	return 0
}

// Readlink returns the target of a link, with slashes, as git does.
func (f *Folder) Readlink(name string) (string, error) {
	handle, err := f.openAt(name, 0, windows.FILE_OPEN, 0)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	defer func() { _ = windows.CloseHandle(handle) }()
	data := make([]byte, windows.MAXIMUM_REPARSE_DATA_BUFFER_SIZE)
	var n uint32
	err = windows.DeviceIoControl(handle, windows.FSCTL_GET_REPARSE_POINT, nil, 0, &data[0], uint32(len(data)), &n, nil)
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	// tag 4, length 2, unused 2, offset and length of the real target, of the shown one, flags 4, text
	const head = 20
	data = data[:n]
	if n < head || binary.LittleEndian.Uint32(data) != windows.IO_REPARSE_TAG_SYMLINK {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	start, size := head+int(binary.LittleEndian.Uint16(data[12:])), int(binary.LittleEndian.Uint16(data[14:]))
	if start+size > len(data) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	var text []uint16
	for i := start; i+1 < start+size; i += 2 {
		text = append(text, binary.LittleEndian.Uint16(data[i:]))
	}
	return filepath.ToSlash(windows.UTF16ToString(text)), nil
}

// OpenFile opens a file or folder to read it. It never blocks, even if the name has become another kind of file.
func (f *Folder) OpenFile(name string) (*os.File, error) {
	noLink := func(kind fs.FileMode) bool { return kind == 0 || kind == fs.ModeDir }
	handle, err := f.openKind(name, windows.GENERIC_READ, noLink)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

// Names returns names in the folder, at most limit.
func (f *Folder) Names(limit int) ([]string, error) {
	handle, err := openRelative(f.handle, "", windows.FILE_LIST_DIRECTORY, windows.FILE_OPEN, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: f.path, Err: err}
	}
	dir := os.NewFile(uintptr(handle), f.path)
	defer dir.Close()
	return readNames(dir, limit)
}

// Create creates a file that must not exist, to write it.
func (f *Folder) Create(name string, _ fs.FileMode) (*os.File, error) {
	handle, err := f.openAt(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_CREATE,
		windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}

// Mkdir creates a folder in this one.
func (f *Folder) Mkdir(name string, _ fs.FileMode) error {
	handle, err := f.openAt(name, 0, windows.FILE_CREATE, windows.FILE_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	return windows.CloseHandle(handle)
}

// Symlink creates a link. Windows creates links by path only, so that it fails afterwards if the folder
// was moved.
func (f *Folder) Symlink(target, name string) error {
	err := os.Symlink(filepath.FromSlash(target), filepath.Join(f.path, name))
	if err != nil {
		return err
	}
	info, err := f.Stat(name)
	if err == nil && info.Kind != fs.ModeSymlink {
		err = fs.ErrInvalid
	}
	return err
}

// Remove removes a file or a link, and no folder.
func (f *Folder) Remove(name string) error { return f.remove(name, isNoFolder) }

// RemoveFolder removes an empty folder, and nothing else.
func (f *Folder) RemoveFolder(name string) error { return f.remove(name, isFolder) }

func (f *Folder) remove(name string, ok func(fs.FileMode) bool) error {
	handle, err := f.openKind(name, windows.DELETE, ok)
	if err != nil {
		return err
	}
	// With the second flag, the name is free at once, even while others have the file open. Old systems and other
	// disks than NTFS do not know it.
	flags := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_POSIX_SEMANTICS)
	var status windows.IO_STATUS_BLOCK
	err = windows.NtSetInformationFile(handle, &status, (*byte)(unsafe.Pointer(&flags)), 4,
		windows.FileDispositionInformationEx)
	if err != nil {
		remove := byte(1)
		err = windows.NtSetInformationFile(handle, &status, &remove, 1, windows.FileDispositionInformation)
	}
	return errors.Join(systemError(err), windows.CloseHandle(handle))
}

// Rename moves a file, and replaces a file at the new name.
func (f *Folder) Rename(name string, to *Folder, newName string) error {
	handle, err := f.openAt(name, windows.DELETE, windows.FILE_OPEN, 0)
	if err != nil {
		return err
	}
	return errors.Join(rename(handle, to.handle, newName), windows.CloseHandle(handle))
}

// Link creates a second name for a file, which must not exist.
func (f *Folder) Link(name string, to *Folder, newName string) error {
	handle, err := f.openAt(name, windows.FILE_WRITE_ATTRIBUTES, windows.FILE_OPEN, windows.FILE_NON_DIRECTORY_FILE)
	if err != nil {
		return err
	}
	const fileLinkInformation = 11
	return errors.Join(setName(handle, to.handle, newName, 0, fileLinkInformation), windows.CloseHandle(handle))
}

// rename moves an open file, and replaces a file at the new name, even an open one.
func rename(handle, folder windows.Handle, newName string) error {
	const fileRenameInformationEx = 65
	err := setName(handle, folder, newName, windows.FILE_RENAME_REPLACE_IF_EXISTS|windows.FILE_RENAME_POSIX_SEMANTICS,
		fileRenameInformationEx)
	if err == nil {
		return nil
	}
	// Old systems and other disks than NTFS do not know these flags.
	return setName(handle, folder, newName, windows.FILE_RENAME_REPLACE_IF_EXISTS, windows.FileRenameInformation)
}

// setName calls the kernel with the structure that renames and links have in common.
func setName(handle, folder windows.Handle, name string, flags, class uint32) error {
	text, err := windows.UTF16FromString(name)
	if err != nil {
		return err
	}
	text = text[:len(text)-1]
	type header struct {
		flags  uint32
		folder windows.Handle
		length uint32
	}
	const start = unsafe.Offsetof(header{}.length) + 4
	data := make([]byte, max(start+uintptr(2*len(text)), unsafe.Sizeof(header{})))
	binary.LittleEndian.PutUint32(data, flags)
	binary.LittleEndian.PutUint64(data[unsafe.Offsetof(header{}.folder):], uint64(folder))
	binary.LittleEndian.PutUint32(data[unsafe.Offsetof(header{}.length):], uint32(2*len(text)))
	for i, unit := range text {
		binary.LittleEndian.PutUint16(data[start+uintptr(2*i):], unit)
	}
	var status windows.IO_STATUS_BLOCK
	return systemError(windows.NtSetInformationFile(handle, &status, &data[0], uint32(len(data)), class))
}
