package rollout

import (
	"io/fs"
	"path/filepath"
	"strings"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/listing"
	"appserver/rollout/zst"
)

// Names of package disk that callers of a store need.
type (
	FS        = disk.FS
	File      = disk.File
	LockMode  = disk.LockMode
	DiskError = disk.Error
	KindError = disk.KindError
	// Compressed is a file whose size is not that of its content.
	Compressed = disk.Compressed
)

// Modes of locks.
const (
	Shared    = disk.Shared
	Exclusive = disk.Exclusive
)

// OS returns the file system of the operating system.
func OS() FS { return disk.OS() }

// IsShortage reports whether err is caused by a limit of the disk or the process. The file
// itself is intact.
func IsShortage(err error) bool { return disk.IsShortage(err) }

// IsTransient reports whether a later attempt to read the file may succeed.
func IsTransient(err error) bool { return disk.IsTransient(err) }

// ThreadID returns the thread id in a rollout's path, or "".
func ThreadID(path string) string { return home.ThreadID(path) }

// PlainPath returns the path by which a rollout is known, for the path at which it is stored.
func PlainPath(path string) string { return zst.Plain(path) }

// Stat describes the file of a rollout in either of its forms.
func Stat(path string) (fs.FileInfo, error) { return zst.New(disk.OS(), "").Stat(path) }

// SameFile reports whether two results of Stat describe the same file.
func SameFile(a, b fs.FileInfo) bool { return zst.New(disk.OS(), "").SameFile(a, b) }

// Named returns the thread id in a rollout's path, or the characters in its place, and the path by which the rollout is
// known.
func Named(path string) (id, plain string) {
	plain = zst.Plain(path)
	if id = home.ThreadID(plain); id == "" {
		stem := strings.TrimSuffix(filepath.Base(plain), ".jsonl")
		id = stem[max(0, len(stem)-36):]
	}
	return id, plain
}

// Names of package home.
type (
	NotFoundError    = home.NotFoundError
	NotArchivedError = home.NotArchivedError
	LockedError      = home.LockedError
	NameError        = home.NameError
)

// Damage is that of package line.
type Damage = line.Damage

// Names of package listing.
type (
	Query       = listing.Query
	Page        = listing.Page
	Head        = listing.Head
	SortKey     = listing.SortKey
	CursorError = listing.CursorError
)

// Sort keys of package listing.
const (
	SortCreated = listing.SortCreated
	SortUpdated = listing.SortUpdated
)
