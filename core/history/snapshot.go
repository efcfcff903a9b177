package history

import (
	"encoding/gob"
	"errors"

	"appserver/core/lineref"
	"appserver/protocol"
)

// errSnapshot is the error for a snapshot whose parts contradict each other.
var errSnapshot = errors.New("the snapshot of the history is damaged")

// blockSize is the number of items in a block of a snapshot. A block is in memory a second time.
const blockSize = 1 << 14

// snapshotHead begins a snapshot. Items follow in blocks of columns, then edits. The form of a snapshot
// may change freely, if the caller then discards older ones.
type snapshotHead struct {
	Items, Edits int
	Order        []int32
	Revision     int64
	// Environment, Instructions and Reminder are the texts of the notices.
	Environment, Instructions, Reminder string
	ReminderAt                          int32
	Conversing                          bool
	Encrypted                           []int64
	Scales                              map[string]float64
	Offsets                             map[string]int64
	PricedFor                           string
	Savings                             []Saving
}

// WriteSnapshot writes the state that lines determine. Items whose lines can be read again are written
// without their payloads.
func (h *History) WriteSnapshot(out *gob.Encoder) error {
	head := snapshotHead{
		Items: len(h.items), Edits: len(h.journal), Order: h.order, Revision: h.revision,
		Environment: h.notices.environment, Instructions: h.notices.instructions, Reminder: h.notices.reminder,
		ReminderAt: h.reminderAt, Conversing: h.conversing, Encrypted: h.encrypted,
		Scales: h.scales, Offsets: h.offsets, PricedFor: h.pricedFor,
		Savings: h.savings,
	}
	if err := out.Encode(&head); err != nil {
		return err
	}
	for first := 0; first < len(h.items); first += blockSize {
		if err := h.writeItems(out, first, min(first+blockSize, len(h.items))); err != nil {
			return err
		}
	}
	for i := range h.journal {
		if err := h.journal[i].write(out); err != nil {
			return err
		}
	}
	return nil
}

// ReadSnapshot reads what WriteSnapshot wrote into an empty history. The payloads of items come from
// lines.
func (h *History) ReadSnapshot(in *gob.Decoder, lines *lineref.Source) error {
	var head snapshotHead
	if err := in.Decode(&head); err != nil {
		return err
	}
	h.order, h.revision, h.encrypted = head.Order, head.Revision, head.Encrypted
	h.notices = notices{head.Environment, head.Instructions, head.Reminder}
	h.reminderAt, h.conversing = head.ReminderAt, head.Conversing
	h.scales, h.offsets, h.pricedFor = head.Scales, head.Offsets, head.PricedFor
	h.savings = head.Savings
	h.items = make([]Item, 0, max(head.Items, 0))
	h.shown.stale = true
	for len(h.items) < head.Items {
		if err := h.readItems(in, lines); err != nil {
			return err
		}
	}
	h.resetForms()
	for range head.Edits {
		if err := h.readEdit(in); err != nil {
			return err
		}
	}
	return nil
}

// editRow is an edit of a snapshot. Edit is JSON, the changes are columns. Texts and Notes are those before
// the changes, NewTexts and NewNotes those after them.
type editRow struct {
	Edit                []byte
	Place               []int32
	Before, After       []uint32
	Omitted, NewOmitted []int32
	Texts, NewTexts     map[int32]string
	Notes, NewNotes     map[int32]string
}

// storedEdit has the members of an edit except for its changes.
type storedEdit struct {
	Edit        protocol.ContextEdit
	Ordinal     int64
	Bare, Final bool
	Point       *protocol.StoredTrimPoint
	From        int64
	Of, Text    string
	Voided      []string
	Saving      int64
	Economy     *protocol.StoredEconomy
}

func (e *Edit) write(out *gob.Encoder) error {
	stored, err := protocol.Marshal(
		storedEdit{e.ContextEdit, e.ordinal, e.bare, e.final, e.point, e.from, e.of, e.text, e.voided, e.saving,
			e.economy},
	)
	if err != nil {
		return err
	}
	row := editRow{Edit: stored, Texts: map[int32]string{}, NewTexts: map[int32]string{},
		Notes: map[int32]string{}, NewNotes: map[int32]string{}}
	for i, c := range e.changes {
		if c.before.text != nil {
			row.Texts[int32(i)] = *c.before.text
		}
		if c.after.text != nil {
			row.NewTexts[int32(i)] = *c.after.text
		}
		if c.before.note != "" {
			row.Notes[int32(i)] = c.before.note
		}
		if c.after.note != "" {
			row.NewNotes[int32(i)] = c.after.note
		}
		row.Place = append(row.Place, c.place)
		row.Before, row.After = append(row.Before, c.before.flags()), append(row.After, c.after.flags())
		row.Omitted, row.NewOmitted = append(row.Omitted, c.before.omitted), append(row.NewOmitted, c.after.omitted)
	}
	return out.Encode(&row)
}

func (h *History) readEdit(in *gob.Decoder) error {
	var row editRow
	if err := in.Decode(&row); err != nil {
		return err
	}
	var stored storedEdit
	if err := protocol.Unmarshal(row.Edit, &stored); err != nil {
		return err
	}
	n := len(row.Place)
	if len(row.Before) != n || len(row.After) != n || len(row.Omitted) != n || len(row.NewOmitted) != n {
		return errSnapshot
	}
	e := Edit{
		ContextEdit: stored.Edit, ordinal: stored.Ordinal, bare: stored.Bare, final: stored.Final, point: stored.Point,
		from: stored.From, of: stored.Of, text: stored.Text, voided: stored.Voided, saving: stored.Saving,
		economy: stored.Economy, changes: make([]Change, n),
	}
	for i := range int32(n) {
		if row.Place[i] < 0 || int(row.Place[i]) >= len(h.items) {
			return errSnapshot
		}
		before := visibilityOf(row.Before[i], row.Omitted[i], row.Notes[i], row.Texts[i])
		after := visibilityOf(row.After[i], row.NewOmitted[i], row.NewNotes[i], row.NewTexts[i])
		e.changes[i] = Change{row.Place[i], before, after}
	}
	h.journal = append(h.journal, e)
	return nil
}
