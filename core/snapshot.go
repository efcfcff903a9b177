package core

import (
	"bufio"
	"encoding/gob"
	"fmt"
	"io"
	"slices"

	"appserver/core/lineref"
	"appserver/protocol"
)

const (
	// snapshotForm changes whenever a snapshot is written otherwise, or lines are applied
	// otherwise than before.
	snapshotForm = 8
	// snapshotBlock is how many entries of a list are in memory a second time.
	snapshotBlock = 1 << 14
)

// snapshotHead is what a snapshot, the durable state of a thread, begins with. Then come
// its lists, in blocks of columns. What there is one of is JSON, which tells a pointer to
// 0 from none.
type snapshotHead struct {
	Form                         int
	Defaults, One                []byte
	Items, Turns, Edits, Moments int
	Order                        []int32
	Messages                     []int64
}

// snapshotOne are the members of log and history that are no lists.
type snapshotOne struct {
	ID, Name, NamedAt, Preview, Applied, Session, Written, CountedFor  string
	Environment, Instructions, Reminder                                string
	Meta                                                               protocol.SessionMeta
	Settings                                                           Settings
	Usage                                                              protocol.ThreadTokenUsage
	Next, Revision, Numbered                                           int64
	Sealed                                                             []int64
	Line, Reminded                                                     int32
	Disordered, Forgetful, Conversing, ProviderRecorded, ModelRecorded bool
	Scales                                                             map[string]float64
	Offsets                                                            map[string]int64
	Points                                                             []checkpoint
	Changes                                                            []protocol.WorktreeChanges
}

// Snapshot writes what the lines that were applied so far come to, for ContinueLoad. All of
// them can be read again.
func (l *Loading) Snapshot(to io.Writer) error {
	t := &l.thread.log
	if t.from == nil {
		return fmt.Errorf("thread %s is held in memory", t.id)
	}
	head := snapshotHead{
		Form: snapshotForm, Items: len(t.items), Turns: len(t.turns), Edits: len(t.journal), Moments: len(t.moments),
		Order: t.order, Messages: t.messages,
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
	for first := 0; first < len(l.items); first += snapshotBlock {
		if err := l.writeItems(out, first, min(first+snapshotBlock, len(l.items))); err != nil {
			return err
		}
	}
	for turns := range slices.Chunk(l.turns, snapshotBlock/8) {
		if err := writeTurns(out, turns); err != nil {
			return err
		}
	}
	for i := range l.journal {
		if err := writeEdit(out, &l.journal[i]); err != nil {
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

// ContinueLoad begins where a snapshot was made: the next line is the first one behind
// those. It is false where the snapshot is of no use.
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
	l.order, l.messages = head.Order, head.Messages
	l.items = make([]contextItem, 0, head.Items)
	for len(l.items) < head.Items {
		if err := l.readItems(in); err != nil {
			return err
		}
	}
	l.turns, l.turnAt = make([]turnRecord, 0, head.Turns), make(map[string]int, head.Turns)
	for len(l.turns) < head.Turns {
		if err := l.readTurns(in); err != nil {
			return err
		}
	}
	for range head.Edits {
		if err := l.readEdit(in); err != nil {
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
		Written: l.written, CountedFor: l.countedFor, Environment: l.environment, Instructions: l.surroundings.instructions,
		Meta: l.meta, Settings: l.settings, Usage: l.usage, Next: l.next, Revision: l.revision, Line: l.line, Numbered: l.numbered,
		Sealed: l.sealed, ProviderRecorded: l.providerRecorded, ModelRecorded: l.modelRecorded,
		Disordered: l.disordered, Scales: l.scales, Offsets: l.offsets,
		Points: l.points, Changes: l.fileChanges, Reminder: l.reminder, Reminded: l.reminded, Conversing: l.conversing, Forgetful: l.forgetful,
	}
}

func (l *log) setOne(s *snapshotOne) {
	l.id, l.name, l.namedAt, l.preview, l.applied, l.session = s.ID, s.Name, s.NamedAt, s.Preview, s.Applied, s.Session
	l.written, l.countedFor, l.environment, l.surroundings.instructions = s.Written, s.CountedFor, s.Environment, s.Instructions
	l.meta, l.settings, l.usage, l.next, l.revision, l.line = s.Meta, s.Settings, s.Usage, s.Next, s.Revision, s.Line
	l.disordered, l.scales, l.offsets, l.numbered = s.Disordered, s.Scales, s.Offsets, s.Numbered
	l.points, l.fileChanges = s.Points, s.Changes
	l.sealed, l.providerRecorded, l.modelRecorded = s.Sealed, s.ProviderRecorded, s.ModelRecorded
	l.reminder, l.reminded, l.conversing, l.forgetful = s.Reminder, s.Reminded, s.Conversing, s.Forgetful
}

// momentColumns are a block of the chronicle's.
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
