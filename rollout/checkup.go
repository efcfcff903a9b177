package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"appserver/protocol"
)

// FindingKind is a machine's word for what is wrong with a rollout.
type FindingKind string

// What can be wrong with a rollout.
const (
	FoundEmpty      FindingKind = "empty"
	FoundNoMeta     FindingKind = "missingFirstLine"
	FoundMark       FindingKind = "byteOrderMark"
	FoundCRLF       FindingKind = "crlf"
	FoundDamage     FindingKind = "damagedLine"
	FoundTorn       FindingKind = "tornTail"
	FoundUnended    FindingKind = "noFinalNewline"
	FoundTwice      FindingKind = "duplicateOrdinal"
	FoundDisorder   FindingKind = "disorderedOrdinal"
	FoundName       FindingKind = "wrongName"
	FoundForeign    FindingKind = "wrongID"
	FoundBackup     FindingKind = "backup"
	FoundOrigin     FindingKind = "missingHistory"
	FoundUnreadable FindingKind = "unreadable"
	FoundSpecial    FindingKind = "notRegular"
	FoundLoop       FindingKind = "linkLoop"
)

// Finding is something that is wrong with a rollout.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Line counts from 1, and Offset is where it begins, in bytes. Where more than one
	// line is meant it is the first; 0 where the file is.
	Line   int   `json:"line,omitempty"`
	Offset int64 `json:"offset,omitempty"`
	// Message says it to people, and what to do where Repair does nothing about it.
	Message string `json:"message"`
	// Repairable is set where Repair heals it.
	Repairable bool `json:"repairable"`
}

// Survey is what a look at a rollout found.
type Survey struct {
	Path string `json:"path"`
	// ThreadID is that of the name, else of the first session_meta, else "".
	ThreadID string `json:"threadId"`
	// Size is in bytes, Lines counts sound ones; both are of the file alone.
	Size     int64     `json:"size"`
	Lines    int       `json:"lines"`
	Findings []Finding `json:"findings"`
}

// Repairable tells whether Repair would change something.
func (s Survey) Repairable() bool {
	for _, f := range s.Findings {
		if f.Repairable {
			return true
		}
	}
	return false
}

// Verify tells what is wrong with a rollout, without its lock. A file that cannot be
// read is a finding like any other.
func (s *Store) Verify(path string) Survey {
	file, _, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return unread(path, err)
	}
	defer func() { _ = file.Close() }()
	v, err := s.survey(path, file)
	if err != nil {
		return unread(path, err)
	}
	return v.Survey
}

// unread is the survey of a file that cannot be read.
func unread(path string, err error) Survey {
	kind := FoundUnreadable
	var special *KindError
	switch {
	case errors.As(err, &special):
		kind = FoundSpecial
	case errors.Is(err, syscall.ELOOP):
		kind = FoundLoop
	}
	return Survey{Path: path, ThreadID: threadID(path), Findings: []Finding{{Kind: kind, Message: err.Error()}}}
}

// survey is a rollout that was looked at.
type survey struct {
	Survey
	*reading
	// alone is what the file holds without its backup.
	alone *Contents
	// meta is that of a file without session_meta, nil where no line has room for it.
	meta *protocol.SessionMeta
}

func (s *Store) survey(path string, file File) (*survey, error) {
	r, err := s.read(path, file)
	if err != nil {
		return nil, err
	}
	v := &survey{reading: r, alone: r.Contents}
	runs := r.runs
	if r.Backup.Joined {
		runs = parseRuns(r.data, shares(len(r.data)))
		v.alone = &Contents{}
		v.alone.settle(runs)
	}
	v.Survey = Survey{Path: path, ThreadID: r.ThreadID, Size: r.Size, Lines: len(v.alone.Lines), Findings: []Finding{}}
	if v.Survey.ThreadID == "" {
		v.Survey.ThreadID = firstMeta(runs)
	}
	v.lookAtName(firstMeta(runs))
	v.lookAtBytes()
	v.lookAtLines()
	v.lookAtBackup(s)
	v.lookAtOrigin(s)
	return v, nil
}

func (v *survey) found(kind FindingKind, line int, offset int64, repairable bool, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{kind, line, offset, fmt.Sprintf(format, args...), repairable})
}

// lookAtName compares the file's name with what session_meta says.
func (v *survey) lookAtName(told string) {
	switch {
	case v.reading.ThreadID == "" && !isThreadID(told):
		v.found(FoundName, 0, 0, false, "the name has no thread id, nor has the file: name it rollout-<time>-<UUID>.jsonl")
	case v.reading.ThreadID == "":
		v.found(FoundName, 0, 0, true, "the name has no thread id, so the thread %s is not found", told)
	case !sameThread(v.reading.ThreadID, told):
		v.found(FoundForeign, 0, 0, false, "session_meta is that of thread %s, and the name counts: rename the file if session_meta is right", told)
	}
}

// lookAtBytes finds what is between the lines.
func (v *survey) lookAtBytes() {
	if len(bytes.TrimSpace(v.data)) == 0 {
		v.found(FoundEmpty, 0, 0, false, "there is no line in it: remove it, or put a copy back")
		return
	}
	if bytes.HasPrefix(v.data, []byte(byteOrderMark)) {
		v.found(FoundMark, 1, 0, true, "the file begins with a byte order mark")
	}
	if n := bytes.Count(v.data, []byte("\r\n")); n > 0 {
		at := bytes.Index(v.data, []byte("\r\n"))
		begin := bytes.LastIndexByte(v.data[:at], '\n') + 1
		v.found(FoundCRLF, bytes.Count(v.data[:at], []byte("\n"))+1, int64(begin), true, "%d lines end with CR LF, this is the first", n)
	}
}

// lookAtLines finds what is wrong with lines, in their order.
func (v *survey) lookAtLines() {
	damage := v.alone.Damage
	seen := make(map[int64]int, len(v.alone.Lines))
	number, sound, last := 0, 0, int64(-1)
	for at, raw := range begins(v.data) {
		number++
		switch {
		case len(raw) == 0:
			continue
		case len(damage) > 0 && damage[0].Line == number:
			v.found(FoundDamage, number, at, true, "%s: it is passed over", damage[0].Reason)
			damage = damage[1:]
			continue
		case sound == len(v.alone.Lines):
			v.found(FoundTorn, number, at, true, "a write broke off here, which nobody was told of")
			continue
		}
		ordinal := *v.alone.Lines[sound].Ordinal
		v.lookAtOrdinal(number, at, ordinal, last, seen)
		seen[ordinal] = number
		last = ordinal
		sound++
	}
	v.lookAtEnds()
}

func (v *survey) lookAtOrdinal(number int, at, ordinal, last int64, seen map[int64]int) {
	if first, twice := seen[ordinal]; twice {
		v.found(FoundTwice, number, at, false, "line %d has the ordinal %d too: items of both have one id, and stay so", first, ordinal)
	} else if ordinal < last {
		v.found(FoundDisorder, number, at, false, "ordinal %d comes after %d: lines count in the order in which they stand", ordinal, last)
	}
}

// lookAtEnds finds what the file lacks at its begin and at its end.
func (v *survey) lookAtEnds() {
	if len(v.alone.Lines) > 0 && !v.alone.Torn && v.data[len(v.data)-1] != '\n' {
		v.found(FoundUnended, bytes.Count(v.data, []byte("\n"))+1, 0, true, "the last line does not end with LF")
	}
	room := v.alone.Next
	if len(v.alone.Lines) > 0 {
		room = *v.alone.Lines[0].Ordinal
	} else if room == 0 {
		return // there is no line at all
	}
	if hasMeta(v.alone.Lines) {
		return
	}
	if room > 0 && v.Survey.ThreadID != "" {
		meta := v.substituteMeta()
		v.meta = &meta
	}
	v.found(FoundNoMeta, 1, 0, v.meta != nil, "session_meta, which tells what the thread is, is lost: the name and the turns tell some of it")
}

// lookAtOrigin makes sure that the file which this one goes on from is there.
func (v *survey) lookAtOrigin(s *Store) {
	var o origin
	if len(v.Contents.Lines) > 0 {
		o = originOf(&v.Contents.Lines[0])
	}
	if o.id == "" {
		return
	}
	if _, err := s.findFile(o.id); err != nil {
		v.found(FoundOrigin, 1, 0, false, "the history before it, of file %s, cannot be read: %v: put that file back", o.id, err)
	}
}

func hasMeta(lines []protocol.RolloutLine) bool {
	for i := range lines {
		if lines[i].Type == protocol.LineSessionMeta {
			return true
		}
	}
	return false
}

func (v *survey) lookAtBackup(s *Store) {
	err := v.Backup.Err
	if err == nil && !v.Backup.Joined {
		err = s.checkEarlier(v.Survey.Path+backupSuffix, v.data)
	}
	var backup *BackupError
	switch {
	case err == nil, errors.As(err, &backup) && backup.Whole && backup.Reason == backupMissing:
		return
	case errors.As(err, &backup) && errors.Is(backup.Err, fs.ErrPermission):
		v.found(FoundBackup, 0, 0, false, "%v (give this user access to it)", err)
		return
	}
	v.found(FoundBackup, 0, 0, false, "%v", err)
}
