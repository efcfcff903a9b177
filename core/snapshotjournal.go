package core

import (
	"encoding/gob"

	"appserver/protocol"
)

// editRow is an edit. One is JSON; the changes are columns. Texts are those that fates have
// before it, Now those after it.
type editRow struct {
	One           []byte
	Place         []int32
	Before, After []uint32
	Says, SaysNow []int32
	Texts, Now    map[int32]string
}

// editOne are the members of an edit but for its changes.
type editOne struct {
	Edit        protocol.ContextEdit
	Ordinal     int64
	Bare, Final bool
	Point       *protocol.StoredTrimPoint
	From        int64
	Of, Text    string
	Voided      []string
}

func writeEdit(out *gob.Encoder, e *edit) error {
	one, err := protocol.Marshal(editOne{e.ContextEdit, e.ordinal, e.bare, e.final, e.point, e.from, e.of, e.text, e.voided})
	if err != nil {
		return err
	}
	row := editRow{One: one, Texts: map[int32]string{}, Now: map[int32]string{}}
	for i, c := range e.changes {
		if c.before.text != nil {
			row.Texts[int32(i)] = *c.before.text
		}
		if c.after.text != nil {
			row.Now[int32(i)] = *c.after.text
		}
		row.Place, row.Before, row.After = append(row.Place, c.place), append(row.Before, c.before.flags()), append(row.After, c.after.flags())
		row.Says, row.SaysNow = append(row.Says, c.before.says), append(row.SaysNow, c.after.says)
	}
	return out.Encode(&row)
}

func (l *log) readEdit(in *gob.Decoder) error {
	var row editRow
	if err := in.Decode(&row); err != nil {
		return err
	}
	var one editOne
	if err := protocol.Unmarshal(row.One, &one); err != nil {
		return err
	}
	n := len(row.Place)
	if len(row.Before) != n || len(row.After) != n || len(row.Says) != n || len(row.SaysNow) != n {
		return errBlock
	}
	e := edit{
		ContextEdit: one.Edit, ordinal: one.Ordinal, bare: one.Bare, final: one.Final, point: one.Point,
		from: one.From, of: one.Of, text: one.Text, voided: one.Voided, changes: make([]change, n),
	}
	for i := range int32(n) {
		if row.Place[i] < 0 || int(row.Place[i]) >= len(l.items) {
			return errBlock
		}
		e.changes[i] = change{row.Place[i], fateOf(row.Before[i], row.Says[i], row.Texts[i]), fateOf(row.After[i], row.SaysNow[i], row.Now[i])}
	}
	l.journal = append(l.journal, e)
	return nil
}
