package rollout

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"appserver/platform/disk"
	"appserver/platform/osfile"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// FindingKind is the machine-readable kind of a finding.
type FindingKind string

// Kinds of findings.
const (
	FoundEmpty      FindingKind = "empty"
	FoundNoMeta     FindingKind = "missingFirstLine"
	FoundMark       FindingKind = "line.ByteOrderMark"
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
	FoundCompressed FindingKind = "damagedCompression"
	FoundUnreadable FindingKind = "unreadable"
	FoundSpecial    FindingKind = "notRegular"
	FoundLoop       FindingKind = "linkLoop"
)

// Finding is a defect of a rollout.
type Finding struct {
	Kind FindingKind `json:"kind"`
	// Line is the line number from 1, and Offset the start of the line in bytes. For several
	// lines it is the first. Both are 0 for the file as a whole.
	Line   int   `json:"line,omitempty"`
	Offset int64 `json:"offset,omitempty"`
	// Message describes the defect for people, with the next action if Repair cannot remove
	// it.
	Message string `json:"message"`
	// Repairable is set if Repair removes the defect.
	Repairable bool `json:"repairable"`
}

// Report is the result of Verify.
type Report struct {
	Path string `json:"path"`
	// ThreadID is the id of the file name, or of the first session_meta, or "".
	ThreadID string `json:"threadId"`
	// Size is in bytes. Lines is the number of sound lines. Both are without the backup.
	Size     int64     `json:"size"`
	Lines    int       `json:"lines"`
	Findings []Finding `json:"findings"`
}

// Repairable reports whether Repair would change the file.
func (s Report) Repairable() bool {
	for _, f := range s.Findings {
		if f.Repairable {
			return true
		}
	}
	return false
}

// Verify checks a rollout without its lock. A file that cannot be read is a finding as well.
func (s *Store) Verify(path string) Report {
	path = zst.Plain(path)
	file, _, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return unreadableReport(path, err)
	}
	defer func() { _ = file.Close() }()
	v, err := s.verify(path, file)
	if err != nil {
		return unreadableReport(path, err)
	}
	return v.Report
}

// unreadableReport returns the report of a file that cannot be read.
func unreadableReport(path string, err error) Report {
	kind := FoundUnreadable
	var special *disk.KindError
	switch {
	case errors.As(err, &special):
		kind = FoundSpecial
	case osfile.Is(err, syscall.ELOOP):
		kind = FoundLoop
	}
	return Report{Path: path, ThreadID: home.ThreadID(path), Findings: []Finding{{Kind: kind, Message: err.Error()}}}
}

// verification is the state of a Verify call.
type verification struct {
	Report
	*reading
	// alone is the content of the file without its backup.
	alone *Contents
	// meta is a reconstructed session_meta, or nil if it is not needed or its ordinal is
	// taken.
	meta *protocol.SessionMeta
}

func (s *Store) verify(path string, file disk.File) (*verification, error) {
	r, err := s.read(path, file)
	if err != nil {
		return nil, err
	}
	v := &verification{reading: r, alone: r.Contents}
	blocks := r.blocks
	if r.Backup.Joined {
		blocks = line.ParseFile(r.data)
		v.alone = &Contents{}
		v.alone.addBlocks(blocks)
	}
	v.Report = Report{Path: path, ThreadID: r.ThreadID, Size: r.Size, Lines: len(v.alone.Lines), Findings: []Finding{}}
	if v.Report.ThreadID == "" {
		v.Report.ThreadID = line.FirstMeta(blocks)
	}
	v.checkName(line.FirstMeta(blocks))
	v.checkBytes()
	v.checkLines()
	if r.problem != nil {
		v.report(FoundCompressed, 0, r.Size, true, "%v", r.problem)
	}
	v.checkBackup(s)
	v.checkOrigin(s)
	return v, nil
}

func (v *verification) report(kind FindingKind, line int, offset int64, repairable bool, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{kind, line, offset, fmt.Sprintf(format, args...), repairable})
}

// checkName compares the file name with session_meta.
func (v *verification) checkName(told string) {
	switch {
	case v.reading.ThreadID == "" && !home.IsThreadID(told):
		v.report(FoundName, 0, 0, false,
			"neither the name nor the file has a thread id: rename it to rollout-<time>-<UUID>.jsonl")
	case v.reading.ThreadID == "":
		v.report(FoundName, 0, 0, true, "the name has no thread id, so the thread %s is not found", told)
	case !sameThread(v.reading.ThreadID, told):
		v.report(FoundForeign, 0, 0, false,
			"session_meta belongs to thread %s, but the name decides: rename the file if session_meta is right", told)
	}
}

// checkBytes finds defects outside of lines.
func (v *verification) checkBytes() {
	if len(bytes.TrimSpace(v.data)) == 0 {
		v.report(FoundEmpty, 0, 0, false, "the file has no lines: remove it, or put a copy back")
		return
	}
	if bytes.HasPrefix(v.data, []byte(line.ByteOrderMark)) {
		v.report(FoundMark, 1, 0, true, "the file begins with a byte order mark")
	}
	if n := bytes.Count(v.data, []byte("\r\n")); n > 0 {
		at := bytes.Index(v.data, []byte("\r\n"))
		begin := bytes.LastIndexByte(v.data[:at], '\n') + 1
		v.report(FoundCRLF, bytes.Count(v.data[:at], []byte("\n"))+1, int64(begin), true,
			"%d lines end with CR LF; this is the first", n)
	}
}

// checkLines finds defects of lines, in order.
func (v *verification) checkLines() {
	damage := v.alone.Damage
	seen := make(map[int64]int, len(v.alone.Lines))
	number, sound, last := 0, 0, int64(-1)
	for at, raw := range line.Lines(v.data) {
		number++
		damaged := len(damage) > 0 && damage[0].Line == number
		torn := v.alone.Torn && at > int64(bytes.LastIndexByte(v.data, '\n'))
		records := 1
		switch {
		case len(raw) == 0:
			continue
		case damaged, torn:
			records = len(slices.Collect(line.Records(raw)))
		}
		if damaged {
			v.report(FoundDamage, number, at, true, "%s: %s", damage[0].Reason, lossText(records))
			damage = damage[1:]
		}
		for range records {
			ordinal := *v.alone.Lines[sound].Ordinal
			v.checkOrdinal(number, at, ordinal, last, seen)
			seen[ordinal] = number
			last = ordinal
			sound++
		}
		if torn {
			v.report(FoundTorn, number, at, true, "an unacknowledged write ends here")
		}
	}
	v.checkEnds()
}

// lossText returns the skipped part of a damaged line.
func lossText(records int) string {
	if records == 0 {
		return "the line is skipped"
	}
	return "the damaged part of the line is skipped"
}

func (v *verification) checkOrdinal(number int, at, ordinal, last int64, seen map[int64]int) {
	if first, twice := seen[ordinal]; twice {
		v.report(FoundTwice, number, at, false,
			"line %d has the ordinal %d as well: items of both lines share one id", first, ordinal)
	} else if ordinal < last {
		v.report(FoundDisorder, number, at, false,
			"ordinal %d comes after %d: lines are read in the order of the file", ordinal, last)
	}
}

// checkEnds finds defects at the start and at the end of the file.
func (v *verification) checkEnds() {
	if len(v.alone.Lines) > 0 && !v.alone.Torn && v.data[len(v.data)-1] != '\n' {
		v.report(FoundUnended, bytes.Count(v.data, []byte("\n"))+1, 0, true, "the last line does not end with LF")
	}
	room := v.alone.Next
	if len(v.alone.Lines) > 0 {
		room = *v.alone.Lines[0].Ordinal
	} else if room == 0 {
		return // the file has no line
	}
	if hasMeta(v.alone.Lines) {
		return
	}
	if room > 0 && v.Report.ThreadID != "" {
		meta := v.reconstructMeta()
		v.meta = &meta
	}
	v.report(FoundNoMeta, 1, 0, v.meta != nil,
		"session_meta is lost: a part can be reconstructed from the name and the turns")
}

// checkOrigin finds a missing origin file.
func (v *verification) checkOrigin(s *Store) {
	var o line.Origin
	if len(v.Contents.Lines) > 0 {
		o = line.OriginOf(&v.Contents.Lines[0])
	}
	if o.ID == "" {
		return
	}
	if _, err := s.FindFile(o.ID); err != nil {
		v.report(FoundOrigin, 1, 0, false,
			"the history before it, of file %s, cannot be read: %v: put that file back", o.ID, err)
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

func (v *verification) checkBackup(s *Store) {
	err := v.Backup.Err
	if err == nil && !v.Backup.Joined {
		err = s.checkEarlier(v.Report.Path+home.BackupSuffix, bytes.NewReader(v.data), v.Size)
	}
	var backup *BackupError
	switch {
	case err == nil, errors.As(err, &backup) && backup.Whole && backup.Reason == backupMissing:
		return
	case errors.As(err, &backup) && errors.Is(backup.Err, fs.ErrPermission):
		v.report(FoundBackup, 0, 0, false, "%v (give this user access to it)", err)
		return
	}
	v.report(FoundBackup, 0, 0, false, "%v", err)
}
