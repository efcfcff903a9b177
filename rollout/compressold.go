package rollout

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"appserver/platform/disk"
)

// The reference implementation has the same files, so that one program at a time compresses, and not too often.
const (
	markerFolder = ".tmp"
	markerName   = "rollout-compression.lock"
	busyName     = "rollout-maintenance.lock"
	// markerAge is the age from which a marker has no meaning.
	markerAge = 6 * time.Hour
)

// CompressedLatelyError reports that rollouts of the home were compressed lately, or are being compressed.
type CompressedLatelyError struct {
	// Since is the time at which that began, or zero while another program compresses.
	Since time.Time
}

// Error returns a message with the next time.
func (e *CompressedLatelyError) Error() string {
	if e.Since.IsZero() {
		return "another program compresses the rollouts of this home"
	}
	return fmt.Sprintf("the rollouts of this home were compressed at %s; the next time is six hours later",
		e.Since.Local().Format(time.DateTime))
}

// CompressOld calls do for each thread with files that were not written to for CompressAge, as Compress does. Within
// six hours after such a call by any program with this home, it returns a *CompressedLatelyError.
func (s *Store) CompressOld(ctx context.Context, now time.Time,
	do func(Compressible) (CompressedThread, error)) (done Compression, err error) {
	folder := s.Path(markerFolder)
	if err := s.disk.MkdirAll(folder, disk.DirMode); err != nil {
		return done, disk.Wrap("make", folder, err)
	}
	busy, err := s.disk.Lock(s.Path(markerFolder, busyName), disk.Exclusive)
	if errors.Is(err, disk.ErrHeld) {
		return done, &CompressedLatelyError{}
	}
	if err != nil {
		return done, disk.Wrap("lock", s.Path(markerFolder, busyName), err)
	}
	defer func() { _ = busy.Close() }()
	if err := s.claimMarker(now); err != nil {
		return done, err
	}
	done = s.Compress(ctx, CompressQuery{Before: now.Add(-CompressAge)}, do)
	if done.stopped {
		_ = s.disk.Remove(s.Path(markerFolder, markerName)) // the next call continues
	}
	return done, nil
}

// claimMarker makes the marker of this call, in place of an old one.
func (s *Store) claimMarker(now time.Time) error {
	path := s.Path(markerFolder, markerName)
	info, err := s.disk.Stat(path)
	switch {
	case disk.IsNotExist(err):
	case err != nil:
		return disk.Wrap("examine", path, err)
	case now.Sub(info.ModTime()) < markerAge:
		return &CompressedLatelyError{Since: info.ModTime()}
	default:
		if err := s.disk.Remove(path); err != nil {
			return disk.Wrap("remove", path, err)
		}
	}
	file, err := disk.Create(s.disk, path)
	if errors.Is(err, os.ErrExist) {
		return &CompressedLatelyError{}
	}
	if err != nil {
		return disk.Wrap("create", path, err)
	}
	_, err = fmt.Fprintf(file, "pid=%d started_at=%s\n", os.Getpid(), now.UTC().Format(time.RFC3339))
	return errors.Join(err, file.Close())
}
