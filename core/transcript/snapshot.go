package transcript

import (
	"encoding/gob"
	"errors"
	"slices"

	"appserver/core/lineref"
)

// errSnapshot is the error for a snapshot whose parts contradict each other.
var errSnapshot = errors.New("the snapshot of the transcript is damaged")

// blockSize is the number of events in a block of a snapshot. A block is in memory a second time.
const blockSize = 1 << 14

// snapshotHead begins a snapshot. Turns and events follow in blocks of columns.
type snapshotHead struct {
	Turns, Events int
	Messages      []int64
	Numbered      int64
	Preview       string
}

// eventColumns is a block of events.
type eventColumns struct {
	Position   []int64
	Turn, Item []int32
}

// WriteSnapshot writes the transcript. The payloads of items must be readable again.
func (t *Transcript) WriteSnapshot(out *gob.Encoder) error {
	head := snapshotHead{len(t.turns), len(t.events), t.messages, t.numbered, t.preview}
	if err := out.Encode(&head); err != nil {
		return err
	}
	for turns := range slices.Chunk(t.turns, blockSize/8) {
		if err := writeTurns(out, turns); err != nil {
			return err
		}
	}
	for events := range slices.Chunk(t.events, blockSize) {
		var c eventColumns
		for _, e := range events {
			c.Position, c.Turn, c.Item = append(c.Position, e.Position), append(c.Turn, e.Turn), append(c.Item, e.Item)
		}
		if err := out.Encode(&c); err != nil {
			return err
		}
	}
	return nil
}

// ReadSnapshot reads what WriteSnapshot wrote into an empty transcript. The payloads of items come from lines.
func (t *Transcript) ReadSnapshot(in *gob.Decoder, lines *lineref.Source) error {
	var head snapshotHead
	if err := in.Decode(&head); err != nil {
		return err
	}
	t.messages, t.numbered, t.preview = head.Messages, head.Numbered, head.Preview
	t.turns, t.indices = make([]Turn, 0, max(head.Turns, 0)), make(map[string]int, max(head.Turns, 0))
	for len(t.turns) < head.Turns {
		if err := t.readTurns(in, lines); err != nil {
			return err
		}
	}
	t.events = make([]Event, 0, max(head.Events, 0))
	for len(t.events) < head.Events {
		if err := t.readEvents(in); err != nil {
			return err
		}
	}
	return nil
}

func (t *Transcript) readEvents(in *gob.Decoder) error {
	var c eventColumns
	if err := in.Decode(&c); err != nil {
		return err
	}
	if n := len(c.Position); n == 0 || len(c.Turn) != n || len(c.Item) != n {
		return errSnapshot
	}
	for i := range c.Position {
		t.events = append(t.events, Event{c.Position[i], c.Turn[i], c.Item[i]})
	}
	return nil
}
