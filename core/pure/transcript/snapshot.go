package transcript

import (
	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
)

// snapshotHead begins a snapshot. The indices of turns, their ids, the turns, the
// events and the indices of the events of items follow.
type snapshotHead struct {
	Messages        []int64
	Numbered, Items int64
	Preview         string
}

// eventColumns is a block of events.
type eventColumns struct {
	Position   []int64
	Turn, Item []int32
}

// WriteSnapshot writes the transcript. The payloads of items must be readable again.
func (t *Transcript) WriteSnapshot(out *snapshot.Writer) {
	out.Value(&snapshotHead{t.messages, t.numbered, t.items, t.preview})
	t.indices.Write(out)
	t.ids.Write(out, func(ids []string) (any, error) { return ids, nil })
	t.turns.Write(out, encodeTurns)
	t.events.Write(out, encodeEvents)
	t.itemEvents.Write(out)
}

// ReadSnapshot reads what WriteSnapshot wrote into an empty transcript. The payloads of items come from lines.
func (t *Transcript) ReadSnapshot(in *snapshot.Reader, lines *lineref.Source) {
	var head snapshotHead
	in.Value(&head)
	t.messages, t.numbered, t.items, t.preview = head.Messages, head.Numbered, head.Items, head.Preview
	t.indices.Read(in)
	t.ids.Read(in, func(_ int, content []byte) (ids []string, err error) { return ids, snapshot.Decode(content, &ids) })
	t.turns.Read(in, func(first int, content []byte) ([]Turn, error) {
		return decodeTurns(content, func(i int) string { return t.TurnID(first + i) }, lines)
	})
	t.events.Read(in, decodeEvents)
	t.itemEvents.Read(in)
}

func encodeEvents(events []Event) (any, error) {
	c := &eventColumns{}
	for _, e := range events {
		c.Position, c.Turn, c.Item = append(c.Position, e.Position), append(c.Turn, e.Turn), append(c.Item, e.Item)
	}
	return c, nil
}

func decodeEvents(_ int, content []byte) ([]Event, error) {
	var c eventColumns
	if err := snapshot.Decode(content, &c); err != nil {
		return nil, err
	}
	events := make([]Event, len(c.Position))
	for i := range events {
		events[i] = Event{c.Position[i], c.Turn[i], c.Item[i]}
	}
	return events, nil
}
