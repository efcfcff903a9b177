package home

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"appserver/rollout/zst"
)

// Roots of the folders that hold rollouts, as names in the home.
const (
	Sessions = "sessions"
	Archived = "archived_sessions"
)

const (
	// BackupSuffix is the suffix of the backup of a rollout.
	BackupSuffix = ".bak"

	namePrefix = "rollout-"
	nameSuffix = ".jsonl"
	nameTime   = "2006-01-02T15-04-05"
	idLen      = 36
)

// FileName returns the name of the rollout of a thread that starts at the given time.
func FileName(id string, at time.Time) string {
	return namePrefix + at.Local().Format(nameTime) + "-" + id + nameSuffix
}

// PathFor returns the path of the rollout of a thread that starts at the given time.
func (h *Home) PathFor(id string, at time.Time) string {
	at = at.Local()
	return filepath.Join(h.dayDir(at), FileName(id, at))
}

// dayDir returns the folder of the rollouts of a day.
func (h *Home) dayDir(at time.Time) string {
	return filepath.Join(h.dir, Sessions, filepath.FromSlash(at.Format("2006/01/02")))
}

// ThreadID returns the thread id in a rollout's path, or "".
func ThreadID(path string) string {
	thread, _ := idsIn(path)
	return thread
}

// FileID returns the id by which other rollouts refer to the file, or "". It is the last id in
// the path. It differs from the thread id only in threads that the reference implementation has
// reverted.
func FileID(path string) string {
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

// cutID splits the trailing id off a text. mark is the character before the id, or 0 if there
// is none.
func cutID(text string) (rest, id string, mark byte) {
	at := len(text) - idLen
	if at < 1 || !IsThreadID(text[at:]) {
		return "", "", 0
	}
	return text[:at-1], text[at:], text[at-1]
}

// TimeOf returns the time in a rollout's path, with a resolution of one second.
func TimeOf(path string) (time.Time, bool) {
	told, ok := nameStem(path)
	if !ok || len(told) < len(nameTime) {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation(nameTime, told[:len(nameTime)], time.Local)
	return at, err == nil
}

// nameStem returns the part of the name with data: <time>-<id> or <time>-<id>_<id>.
func nameStem(path string) (string, bool) {
	name, prefixed := strings.CutPrefix(filepath.Base(zst.Plain(path)), namePrefix)
	name, suffixed := strings.CutSuffix(name, nameSuffix)
	return name, prefixed && suffixed
}

// timeOfID returns the time in a version 7 UUID, with a resolution of one millisecond.
func timeOfID(id string) (time.Time, bool) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return time.Time{}, false
	}
	return time.Unix(parsed.Time().UnixTime()).Local(), true
}

// IsThreadID reports whether id is a UUID in its canonical form. uuid.Parse accepts other
// forms as well: with braces, with the prefix urn:, and without dashes.
func IsThreadID(id string) bool {
	if len(id) != idLen {
		return false
	}
	_, err := uuid.Parse(id)
	return err == nil
}
