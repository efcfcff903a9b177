package files

import (
	"path/filepath"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
)

// journal is a log that reports its appends to the index. So it overrides Append.
type journal struct {
	*rollout.Log
	id    string
	index Index
}

// Append appends lines, all or none.
func (j *journal) Append(lines []protocol.RolloutLine, sync bool) error {
	err := j.Log.Append(lines, sync)
	if j.index != nil && len(lines) > 0 {
		j.index.Note(j.Path())
	}
	return err
}

// Lost returns nil: the lock of the thread is kept until Close.
func (*journal) Lost() <-chan struct{} { return nil }

// Ref returns the name of the rollout.
func (j *journal) Ref() store.Ref { return store.Ref{ID: j.id, Path: j.Path()} }

// IsAt reports whether a path leads to the rollout.
func (j *journal) IsAt(path string) bool {
	own := j.Path()
	path = rollout.PlainPath(path)
	if filepath.Clean(path) == filepath.Clean(own) {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	realOwn, errOwn := filepath.EvalSymlinks(own)
	return err == nil && errOwn == nil && real == realOwn
}
