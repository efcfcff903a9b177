package history

import (
	"slices"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// snapshotHead begins a snapshot. The calls, the items and the edits follow. The form of a snapshot may change
// freely, if the caller then discards older ones.
type snapshotHead struct {
	Order, Shown []int32
	Revision     int64
	// Environment, Instructions, Reminder, Mode, Skills, Team and AgentMode are the texts of the notices.
	Environment, Instructions, Reminder, Mode, Skills, Team, AgentMode string
	Models                                                             []Model
	Encrypted                                                          []int64
	Refused                                                            map[string]int64
	Scales                                                             map[string]Scale
	Fits                                                               map[string]scaleFit
	Offsets, Cuts                                                      map[string]int64
	Reports                                                            map[string]report
	PricedFor                                                          string
	Savings                                                            []Saving
}

// WriteSnapshot writes the state that lines determine. Items whose lines can be read again are written
// without their payloads.
func (h *History) WriteSnapshot(out *snapshot.Writer) {
	h.updateShown()
	out.Value(&snapshotHead{
		Order: h.order, Shown: h.shown.places, Revision: h.revision,
		Environment: h.notices.environment, Instructions: h.notices.instructions, Reminder: h.notices.reminder,
		Mode: h.notices.mode, Skills: h.notices.skills,
		Team: h.notices.team, AgentMode: h.notices.agentMode,
		Models: h.models, Encrypted: h.encrypted, Refused: h.refused,
		Scales: h.scales, Fits: h.fits, Offsets: h.offsets, Cuts: h.cuts, Reports: h.reports, PricedFor: h.pricedFor,
		Savings: h.savings,
	})
	h.latestCall.Write(out)
	h.items.Write(out, encodeItems)
	h.writeEdits(out)
}

// ReadSnapshot reads what WriteSnapshot wrote into an empty history. The payloads of items come from
// lines.
func (h *History) ReadSnapshot(in *snapshot.Reader, lines *lineref.Source) {
	var head snapshotHead
	in.Value(&head)
	h.order, h.revision, h.encrypted, h.refused = head.Order, head.Revision, head.Encrypted, head.Refused
	h.shown.places = head.Shown
	h.notices = notices{head.Environment, head.Instructions, head.Reminder, head.Mode, head.Skills, head.Team,
		head.AgentMode}
	h.models = head.Models
	h.scales, h.fits, h.offsets, h.pricedFor = head.Scales, head.Fits, head.Offsets, head.PricedFor
	h.reports, h.cuts = head.Reports, head.Cuts
	h.savings = head.Savings
	h.formsDue = true
	h.latestCall.Read(in)
	encrypted := slices.Clone(head.Encrypted)
	h.items.Read(in, func(_ int, content []byte) ([]Item, error) { return decodeItems(content, lines, encrypted) })
	h.readEdits(in)
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

// changeColumns are the changes of an edit. Marks are those before the changes, NewMarks those after them.
type changeColumns struct {
	Place               []int32
	Before, After       []uint32
	Omitted, NewOmitted []int32
	Marks, NewMarks     map[int32]marks
}

// writeEdits writes the edits as JSON, because gob does not distinguish a pointer to 0 from nil, and then the changes
// of each of them.
func (h *History) writeEdits(out *snapshot.Writer) {
	edits := make([]storedEdit, len(h.journal))
	for i := range h.journal {
		e := &h.journal[i]
		edits[i] = storedEdit{e.ContextEdit, e.ordinal, e.bare, e.final, e.point, e.from, e.of, e.text, e.voided,
			e.saving, e.economy}
	}
	raw, err := protocol.Marshal(edits)
	if err != nil {
		out.Fail(err)
		return
	}
	out.Section(raw)
	for i := range h.journal {
		if e := &h.journal[i]; e.stored != nil {
			out.Section(e.stored)
		} else {
			out.Value(columnsOf(e.changes))
		}
	}
}

func columnsOf(changes []Change) *changeColumns {
	c := &changeColumns{Marks: map[int32]marks{}, NewMarks: map[int32]marks{}}
	for i, change := range changes {
		c.Place = append(c.Place, change.place)
		c.Before, c.After = append(c.Before, change.before.flags()), append(c.After, change.after.flags())
		c.Omitted = append(c.Omitted, change.before.omitted)
		c.NewOmitted = append(c.NewOmitted, change.after.omitted)
		change.before.addTo(c.Marks, int32(i))
		change.after.addTo(c.NewMarks, int32(i))
	}
	return c
}

func (h *History) readEdits(in *snapshot.Reader) {
	var edits []storedEdit
	raw := in.Section()
	if in.Err() != nil {
		return
	}
	if err := protocol.Unmarshal(raw, &edits); err != nil {
		in.Fail(err)
		return
	}
	for i := range edits {
		e := &edits[i]
		h.journal = append(h.journal, Edit{
			ContextEdit: e.Edit, ordinal: e.Ordinal, bare: e.Bare, final: e.Final, point: e.Point,
			from: e.From, of: e.Of, text: e.Text, voided: e.Voided, saving: e.Saving,
			economy: e.Economy, stored: in.Section(), decode: decodeChanges,
		})
	}
}

// decodeChanges returns the changes of an edit of a snapshot.
func decodeChanges(content []byte) []Change {
	var c changeColumns
	snapshot.MustDecode(content, &c)
	changes := make([]Change, len(c.Place))
	for i := range int32(len(changes)) {
		changes[i] = Change{
			place:  c.Place[i],
			before: visibilityOf(c.Before[i], c.Omitted[i], c.Marks[i]),
			after:  visibilityOf(c.After[i], c.NewOmitted[i], c.NewMarks[i]),
		}
	}
	return changes
}
