package rollout

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/zst"
)

// CompressAge is the age of a file, by its modification time, from which the reference implementation compresses it.
const CompressAge = 7 * 24 * time.Hour

// CompressQuery selects files to compress. The zero value selects all.
type CompressQuery struct {
	// Before is the latest modification time, or zero.
	Before time.Time
	// Threads lists ids of threads, or is empty for all.
	Threads []string
}

// Compressible is a thread with files to compress.
type Compressible struct {
	ID string
	// Paths are the paths of its plain rollouts, newest first.
	Paths []string
}

// CompressedThread is a thread with files that were compressed. Sizes are in bytes.
type CompressedThread struct {
	ID     string   `json:"threadId"`
	Paths  []string `json:"paths"`
	Before int64    `json:"bytesBefore"`
	After  int64    `json:"bytesAfter"`
}

// KeptThread is a thread with files that stayed as they were.
type KeptThread struct {
	ID     string   `json:"threadId"`
	Paths  []string `json:"paths"`
	Reason string   `json:"reason"`
}

// Compression is the result of Compress.
type Compression struct {
	Compressed []CompressedThread `json:"compressed"`
	Kept       []KeptThread       `json:"kept"`
	// Before and After are the sizes of all compressed files.
	Before int64 `json:"bytesBefore"`
	After  int64 `json:"bytesAfter"`
	// Unread lists errors of files and folders that could not be examined.
	Unread []string `json:"unread"`
	// stopped is set if threads were left because the context ended.
	stopped bool
}

// Compress calls do for each thread with files that a query selects, the newest first. Without do it only lists them.
// After an error of do, the thread is kept, and the next one is processed. It stops when ctx ends.
func (s *Store) Compress(ctx context.Context, q CompressQuery,
	do func(Compressible) (CompressedThread, error)) Compression {
	done := NewCompression()
	for _, t := range s.compressible(ctx, q, &done) {
		if done.stopped = ctx.Err() != nil; done.stopped {
			break
		}
		done.Add(t, do)
	}
	return done
}

// NewCompression returns an empty result.
func NewCompression() Compression {
	return Compression{Compressed: []CompressedThread{}, Kept: []KeptThread{}, Unread: []string{}}
}

// Add calls do for a thread and adds its result. Without do, it adds the thread as it is.
func (c *Compression) Add(t Compressible, do func(Compressible) (CompressedThread, error)) {
	done, err := CompressedThread{ID: t.ID, Paths: t.Paths}, error(nil)
	if do != nil {
		done, err = do(t)
	}
	if err != nil {
		c.Kept = append(c.Kept, KeptThread{t.ID, t.Paths, err.Error()})
	}
	if len(done.Paths) > 0 {
		c.Compressed = append(c.Compressed, done)
		c.Before += done.Before
		c.After += done.After
	}
}

// compressible returns the threads with plain files that a query selects.
func (s *Store) compressible(ctx context.Context, q CompressQuery, done *Compression) (threads []Compressible) {
	at := map[string]int{}
	unread := func(err error) { done.Unread = append(done.Unread, err.Error()) }
	for _, root := range home.Roots() {
		for name, err := range s.Walk(home.Walk{Root: root, OnUnnamed: unread}) {
			if done.stopped = ctx.Err() != nil; done.stopped {
				return nil
			}
			path, id := s.AbsPath(root, name), home.ThreadID(name)
			if err != nil {
				unread(err)
				continue
			}
			if len(q.Threads) > 0 && !slices.Contains(q.Threads, id) {
				continue
			}
			if selected, err := s.CanCompress(path, q.Before); err != nil {
				unread(err)
			} else if selected {
				n, ok := at[id]
				if !ok {
					n, at[id] = len(threads), len(threads)
					threads = append(threads, Compressible{ID: id})
				}
				threads[n].Paths = append(threads[n].Paths, path)
			}
		}
	}
	return threads
}

// CanCompress reports whether a rollout is plain, or has a plain backup, and was not written to since a time. Any time
// will do if that is zero.
func (s *Store) CanCompress(path string, before time.Time) (bool, error) {
	info, err := s.disk.Lstat(path)
	if err != nil {
		return false, disk.Wrap("look at", path, err)
	}
	if !before.IsZero() && info.ModTime().After(before) {
		return false, nil
	}
	for _, form := range []string{path, path + home.BackupSuffix} {
		if _, err := s.disk.FS.Lstat(form); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// CompressThread compresses files of a thread and their backups, durably and under the writer lock. A thread with
// another writer is a *LockedError. The error is that of the first file that cannot be compressed; the others are
// compressed.
func (s *Store) CompressThread(t Compressible) (CompressedThread, error) {
	done := CompressedThread{ID: t.ID, Paths: []string{}}
	lock, err := s.Lock(t.ID)
	if err != nil {
		return done, err
	}
	for _, path := range t.Paths {
		sizes, failed := s.compressFile(path)
		if sizes != (zst.Sizes{}) {
			done.Paths = append(done.Paths, path)
			done.Before += sizes.Plain
			done.After += sizes.Compressed
		}
		err = cmp.Or(err, failed)
	}
	return done, cmp.Or(err, disk.Wrap("unlock", t.ID, lock.Release()))
}

// compressFile compresses a rollout and its backup.
func (s *Store) compressFile(path string) (sizes zst.Sizes, err error) {
	for _, form := range []string{path + home.BackupSuffix, path} {
		one, failed := s.disk.Compress(form)
		if disk.IsNotExist(failed) || errors.Is(failed, zst.ErrCompressed) {
			continue
		}
		sizes.Plain += one.Plain
		sizes.Compressed += one.Compressed
		err = cmp.Or(err, failed)
	}
	return sizes, err
}
