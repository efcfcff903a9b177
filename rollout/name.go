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

// threadID is the id in a rollout's path, "" where there is none.
func threadID(path string) string {
	told, ok := stem(path)
	if !ok || len(told) <= idLen {
		return ""
	}
	rest, id := told[:len(told)-idLen], told[len(told)-idLen:]
	if !strings.HasSuffix(rest, "-") || !isThreadID(id) {
		return ""
	}
	return id
}

// nameTimeOf is the time in a rollout's path, to the second.
func nameTimeOf(path string) (time.Time, bool) {
	told, ok := stem(path)
	if !ok || len(told) < len(nameTime) {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation(nameTime, told[:len(nameTime)], time.Local)
	return at, err == nil
}

// stem is the part of the name that tells: <time>-<id>.
func stem(path string) (string, bool) {
	name, prefixed := strings.CutPrefix(filepath.Base(path), namePrefix)
	name, suffixed := strings.CutSuffix(name, nameSuffix)
	return name, prefixed && suffixed
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
