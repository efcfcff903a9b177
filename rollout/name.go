package rollout

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	sessionsDir = "sessions"
	archivedDir = "archived_sessions"

	namePrefix = "rollout-"
	nameSuffix = ".jsonl"
	nameTime   = "2006-01-02T15-04-05"
	idLen      = 36

	dirMode  = 0o700
	fileMode = 0o600
)

// PathFor is where the rollout of a thread that begins at that time belongs.
func (s *Store) PathFor(id string, at time.Time) string {
	at = at.Local()
	return filepath.Join(s.dayDir(at), namePrefix+at.Format(nameTime)+"-"+id+nameSuffix)
}

// dayDir is the folder of rollouts that begin on that day.
func (s *Store) dayDir(at time.Time) string {
	return filepath.Join(s.home, sessionsDir, filepath.FromSlash(at.Format("2006/01/02")))
}

// ThreadID is the thread's id in a rollout's path, "" where there is none.
func ThreadID(path string) string { return threadID(path) }

func threadID(path string) string {
	thread, _ := idsIn(path)
	return thread
}

// FileID is the id by which other rollouts name the one at a path, "" where it has none.
func FileID(path string) string { return fileID(path) }

// fileID is the id by which other rollouts name a file that they go on from: the last one in
// the path. Only the files of threads that the reference implementation has reverted have one
// that is not the thread's.
func fileID(path string) string {
	_, file := idsIn(path)
	return file
}

func idsIn(path string) (thread, file string) {
	told, ok := nameStem(path)
	if !ok {
		return "", ""
	}
	rest, last, mark := cutID(told)
	switch mark {
	case '-':
		return last, last
	case '_':
		if _, thread, mark = cutID(rest); mark == '-' {
			return thread, last
		}
	}
	return "", ""
}

// cutID takes the id off the end of a text, and the mark before it, 0 where there is none.
func cutID(text string) (rest, id string, mark byte) {
	at := len(text) - idLen
	if at < 1 || !isThreadID(text[at:]) {
		return "", "", 0
	}
	return text[:at-1], text[at:], text[at-1]
}

// nameTimeOf is the time in a rollout's path, to the second.
func nameTimeOf(path string) (time.Time, bool) {
	told, ok := nameStem(path)
	if !ok || len(told) < len(nameTime) {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation(nameTime, told[:len(nameTime)], time.Local)
	return at, err == nil
}

// stem is the part of the name that tells: <time>-<id>, or <time>-<id>_<id>.
func nameStem(path string) (string, bool) {
	name, prefixed := strings.CutPrefix(filepath.Base(path), namePrefix)
	name, suffixed := strings.CutSuffix(name, nameSuffix)
	return name, prefixed && suffixed
}

// madeAt is the time that is in an id of version 7, to the millisecond.
func timeOfID(id string) (time.Time, bool) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return time.Time{}, false
	}
	return time.Unix(parsed.Time().UnixTime()).Local(), true
}

// isThreadID is strict where uuid.Parse is not: it also takes braces, a urn: prefix
// and ids without dashes.
func isThreadID(id string) bool {
	if len(id) != idLen {
		return false
	}
	_, err := uuid.Parse(id)
	return err == nil
}
