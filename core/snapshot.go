package core

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

const (
	// snapshotForm changes with the format of snapshots, and with the effect of lines.
	snapshotForm = 9
	// snapshotBlock is the number of entries in a block. A block is in memory a second time.
	snapshotBlock = 1 << 14
)

// errBlock is the error for a block whose columns have different lengths.
var errBlock = errors.New("a block of the snapshot makes no sense")

func bitOf(bit uint32, set bool) uint32 {
	if set {
		return bit
	}
	return 0
}

// snapshotHead begins a snapshot. The history and blocks of columns follow. Single values are JSON,
// because gob does not distinguish a pointer to 0 from nil.
type snapshotHead struct {
	Form           int
	Defaults, One  []byte
	Turns, Moments int
	Messages       []int64
}

// snapshotOne has the single values of the log.
type snapshotOne struct {
	ID, Name, NamedAt, Preview, Applied, Session, Written  string
	Meta                                                   protocol.SessionMeta
	Settings                                               Settings
	Usage                                                  protocol.ThreadTokenUsage
	Next, Numbered                                         int64
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
	head := snapshotHead{
		Form: snapshotForm, Turns: len(t.turns), Moments: len(t.moments),
		Messages: t.messages,
	}
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
	for turns := range slices.Chunk(l.turns, snapshotBlock/8) {
		if err := writeTurns(out, turns); err != nil {
			return err
		}
	}
	for moments := range slices.Chunk(l.moments, snapshotBlock) {
		if err := writeMoments(out, moments); err != nil {
			return err
		}
	}
	return nil
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
	l.messages = head.Messages
	if err := l.context.ReadSnapshot(in, l.from); err != nil {
		return err
	}
	l.turns, l.turnAt = make([]turnRecord, 0, head.Turns), make(map[string]int, head.Turns)
	for len(l.turns) < head.Turns {
		if err := l.readTurns(in); err != nil {
			return err
		}
	}
	l.moments = make([]moment, 0, head.Moments)
	for len(l.moments) < head.Moments {
		if err := l.readMoments(in); err != nil {
			return err
		}
	}
	return nil
}

func (l *log) one() snapshotOne {
	return snapshotOne{
		ID: l.id, Name: l.name, NamedAt: l.namedAt, Preview: l.preview, Applied: l.applied, Session: l.session,
		Written: l.written, Meta: l.meta, Settings: l.settings, Usage: l.usage, Next: l.next, Line: l.line,
		Numbered: l.numbered, ProviderRecorded: l.providerRecorded, ModelRecorded: l.modelRecorded,
		Disordered: l.disordered, Points: l.points, Changes: l.fileChanges, Forgetful: l.memoryOff,
	}
}

func (l *log) setOne(s *snapshotOne) {
	l.id, l.name, l.namedAt, l.preview, l.applied, l.session = s.ID, s.Name, s.NamedAt, s.Preview, s.Applied, s.Session
	l.written, l.meta, l.settings, l.usage, l.next, l.line = s.Written, s.Meta, s.Settings, s.Usage, s.Next, s.Line
	l.numbered, l.providerRecorded, l.modelRecorded = s.Numbered, s.ProviderRecorded, s.ModelRecorded
	l.disordered, l.points, l.fileChanges, l.memoryOff = s.Disordered, s.Points, s.Changes, s.Forgetful
}

// momentColumns is a block of the event index.
type momentColumns struct {
	Position   []int64
	Turn, Item []int32
}

func writeMoments(out *gob.Encoder, moments []moment) error {
	var c momentColumns
	for _, m := range moments {
		c.Position, c.Turn, c.Item = append(c.Position, m.position), append(c.Turn, m.turn), append(c.Item, m.item)
	}
	return out.Encode(&c)
}

func (l *log) readMoments(in *gob.Decoder) error {
	var c momentColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	if n := len(c.Position); n == 0 || len(c.Turn) != n || len(c.Item) != n {
		return errBlock
	}
	for i := range c.Position {
		l.moments = append(l.moments, moment{c.Position[i], c.Turn[i], c.Item[i]})
	}
	return nil
}
