package core

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"

	"appserver/core/lineref"
	"appserver/protocol"
)

const (
	// snapshotForm changes with the format of snapshots, and with the effect of lines.
	snapshotForm = 10
)

// snapshotHead begins a snapshot. The history and blocks of columns follow. Single values are JSON,
// because gob does not distinguish a pointer to 0 from nil.
type snapshotHead struct {
	Form          int
	Defaults, One []byte
}

// snapshotOne has the single values of the log.
type snapshotOne struct {
	ID, Name, NamedAt, Applied, Session, Written           string
	Meta                                                   protocol.SessionMeta
	Settings                                               Settings
	Usage                                                  protocol.ThreadTokenUsage
	Next                                                   int64
	Line                                                   int32
	Disordered, Forgetful, ProviderRecorded, ModelRecorded bool
	Points                                                 []checkpoint
	Changes                                                []protocol.WorktreeChanges
}

// Snapshot writes the state after the lines that were applied so far, for ContinueLoad. All payloads
// must be readable again.
func (l *Loading) Snapshot(to io.Writer) error {
	t := &l.thread.log
	if t.from == nil {
		return fmt.Errorf("thread %s is held in memory", t.id)
	}
	head := snapshotHead{Form: snapshotForm}
	var err error
	if head.Defaults, err = protocol.Marshal(l.defaults); err != nil {
		return err
	}
	if head.One, err = protocol.Marshal(t.one()); err != nil {
		return err
	}
	out := gob.NewEncoder(to)
	if err := out.Encode(&head); err != nil {
		return err
	}
	return t.writeLists(out)
}

func (l *log) writeLists(out *gob.Encoder) error {
	if err := l.context.WriteSnapshot(out); err != nil {
		return err
	}
	return l.transcript.WriteSnapshot(out)
}

// ContinueLoad starts a load from a snapshot. The next line is the first one after it. It returns
// false if the snapshot cannot be used.
func ContinueLoad(defaults Settings, lines lineref.Lines, from io.Reader) (*Loading, bool) {
	in := gob.NewDecoder(bufio.NewReader(from))
	var head snapshotHead
	if in.Decode(&head) != nil || head.Form != snapshotForm {
		return nil, false
	}
	same, err := protocol.Marshal(defaults)
	if err != nil || string(same) != string(head.Defaults) {
		return nil, false
	}
	t := &Thread{log: log{from: lineref.NewSource(lines)}}
	if t.readSnapshot(in, &head) != nil {
		return nil, false
	}
	return &Loading{t, defaults}, true
}

func (l *log) readSnapshot(in *gob.Decoder, head *snapshotHead) error {
	var one snapshotOne
	if err := protocol.Unmarshal(head.One, &one); err != nil {
		return err
	}
	l.setOne(&one)
	if err := l.context.ReadSnapshot(in, l.from); err != nil {
		return err
	}
	return l.transcript.ReadSnapshot(in, l.from)
}

func (l *log) one() snapshotOne {
	return snapshotOne{
		ID: l.id, Name: l.name, NamedAt: l.namedAt, Applied: l.applied, Session: l.session,
		Written: l.written, Meta: l.meta, Settings: l.settings, Usage: l.usage, Next: l.next, Line: l.line,
		ProviderRecorded: l.providerRecorded, ModelRecorded: l.modelRecorded,
		Disordered: l.disordered, Points: l.points, Changes: l.fileChanges, Forgetful: l.memoryOff,
	}
}

func (l *log) setOne(s *snapshotOne) {
	l.id, l.name, l.namedAt, l.applied, l.session = s.ID, s.Name, s.NamedAt, s.Applied, s.Session
	l.written, l.meta, l.settings, l.usage, l.next, l.line = s.Written, s.Meta, s.Settings, s.Usage, s.Next, s.Line
	l.providerRecorded, l.modelRecorded = s.ProviderRecorded, s.ModelRecorded
	l.disordered, l.points, l.fileChanges, l.memoryOff = s.Disordered, s.Points, s.Changes, s.Forgetful
}
