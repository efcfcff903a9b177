package view_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/history"
	"appserver/core/pure/lineref"
	"appserver/core/pure/transcript"
	"appserver/core/pure/view"
	"appserver/protocol"
	"appserver/test/sample"
)

// largestPage is the largest page of a timeline.
const largestPage = 1000

type line = transcript.Line

// diary is a thread whose lines and trim points a test chooses.
type diary struct {
	transcript.Transcript
	next   int64 // the ordinal of the next line
	points []history.TrimPoint
	turns  int
	made   int // trim points so far
}

func newDiary() *diary { return &diary{} }

// line adds a line with a payload that a method of the transcript applies.
func (d *diary) line(apply func(*line), format string, args ...any) {
	payload := json.RawMessage(fmt.Sprintf(format, args...))
	apply(&line{Ordinal: d.next, Ref: lineref.Ref{Raw: payload, Part: lineref.Whole}})
	d.next++
}

// skip adds a line that is not in the transcript.
func (d *diary) skip() { d.next++ }

func (d *diary) begin() {
	d.turns++
	d.line(func(l *line) { d.Started(l) }, `{"turn_id":"u-%d"}`, d.turns)
}

func (d *diary) end() { d.line(d.Completed, `{}`) }

// addItem adds an item to a turn, which need not be the last one, nor one that began.
func (d *diary) addItem(kind string, turn int) {
	d.line(func(l *line) { d.ItemCompleted(l) },
		`{"type":"item_completed","turn_id":"u-%d","item":{"type":%q,"id":"i-%d"}}`, turn, kind, d.next)
}

// trim adds a trim point before the first event at a position or after it.
func (d *diary) trim(position int64, pruned int, summary *string) {
	if i := d.EventFrom(position); i < d.EventCount() {
		position = d.Event(i).Position
	} else {
		position = d.next
	}
	d.skip()
	d.made++
	point := protocol.TrimPoint{ID: fmt.Sprintf("p-%d", d.made), PrunedMessageCount: pruned, Summary: summary}
	d.points = append(d.points, history.TrimPoint{TrimPoint: point, Position: position})
}

func (d *diary) thread() *view.Thread { return &view.Thread{ID: "t-1", Transcript: &d.Transcript} }

// page returns a page as lines of text.
func (d *diary) page(t require.TestingT, cursor *string, limit uint32) (entries []string, next *string) {
	page, err := d.thread().TimelinePage(d.points, view.TimelineQuery{Cursor: cursor, Limit: &limit})
	require.Nil(t, err)
	for _, e := range page.Data {
		entries = append(entries, entryText(t, e))
	}
	return entries, page.NextCursor
}

func entryText(t require.TestingT, e protocol.ThreadTimelineEntry) (text string) {
	trimmed := false
	switch v := e.ThreadTimelineEntryVariant.(type) {
	case *protocol.TimelineTurnStarted:
		text, trimmed = fmt.Sprint(v.Position, " begin ", v.TurnID), v.Trimmed
	case *protocol.TimelineTurnCompleted:
		text, trimmed = fmt.Sprint(v.Position, " end ", v.TurnID), v.Trimmed
	case *protocol.TimelineItem:
		text, trimmed = fmt.Sprint(v.Position, " ", v.Item.ItemID(), " ", v.TurnID), v.Trimmed
	case *protocol.TimelineSummary:
		text, trimmed = fmt.Sprintf("%d summary %s %q", v.Position, v.TrimPointID, v.Text), v.Trimmed
	case *protocol.TimelineTrimPoint:
		trimmed = v.Trimmed
		text = fmt.Sprintf("%d trim %s, %d hidden, %s", v.Position, v.TrimPoint.ID, v.HiddenMessageCount, v.Label)
	default:
		require.Fail(t, "an entry of no kind", "%T", v)
	}
	if trimmed {
		text += " trimmed"
	}
	return text
}

// twoTurns returns lines 0 to 7: two turns with a message of each side.
func twoTurns() *diary {
	d := newDiary()
	for range 2 {
		d.begin()
		d.addItem("UserMessage", d.turns)
		d.addItem("AgentMessage", d.turns)
		d.end()
	}
	return d
}

func TestTimelineWithTrimPoints(t *testing.T) {
	d := twoTurns()
	d.trim(4, 2, new("They said hello."))
	require.Equal(t, []string{
		"0 begin u-1 trimmed", "1 i-1 u-1 trimmed", "2 i-2 u-1 trimmed", "3 end u-1 trimmed",
		`4 summary p-1 "They said hello."`, "4 trim p-1, 2 hidden, Earlier messages: 2 pruned",
		"4 begin u-2", "5 i-5 u-2", "6 i-6 u-2", "7 end u-2",
	}, d.all(t))

	// A trim point with nothing behind it is last; what comes later is not trimmed by it.
	d.trim(100, 1, nil)
	d.begin()
	want := []string{
		"0 begin u-1 trimmed", "1 i-1 u-1 trimmed", "2 i-2 u-1 trimmed", "3 end u-1 trimmed",
		`4 summary p-1 "They said hello." trimmed`, "4 trim p-1, 2 hidden, Earlier messages: 2 pruned trimmed",
		"4 begin u-2 trimmed", "5 i-5 u-2 trimmed", "6 i-6 u-2 trimmed", "7 end u-2 trimmed",
		"9 trim p-2, 4 hidden, Earlier messages: 1 pruned", "10 begin u-3",
	}
	require.Equal(t, want, d.all(t))

	// Two at the same place are in the order in which they were made.
	d.points = append(d.points, history.TrimPoint{TrimPoint: protocol.TrimPoint{ID: "p-3", Summary: new("")}, Position: 9})
	require.Equal(t, []string{
		"9 trim p-2, 4 hidden, Earlier messages: 1 pruned trimmed",
		`9 summary p-3 ""`, "9 trim p-3, 4 hidden, Earlier messages: none pruned", "10 begin u-3",
	}, d.all(t)[10:])

	// The latest one counts, even where its boundary is before that of an earlier one.
	d.points = []history.TrimPoint{d.points[1], {TrimPoint: protocol.TrimPoint{ID: "p-4"}, Position: 4}}
	require.Equal(t, []string{
		"0 begin u-1 trimmed", "1 i-1 u-1 trimmed", "2 i-2 u-1 trimmed", "3 end u-1 trimmed",
		"4 trim p-4, 2 hidden, Earlier messages: none pruned", "4 begin u-2", "5 i-5 u-2", "6 i-6 u-2", "7 end u-2",
		"9 trim p-2, 4 hidden, Earlier messages: 1 pruned trimmed", "10 begin u-3",
	}, d.all(t))
}

// TestATrimPointIsBeforeTheTurnThatNoLineBegan checks the order at one position.
func TestATrimPointIsBeforeTheTurnThatNoLineBegan(t *testing.T) {
	d := newDiary()
	d.addItem("UserMessage", 7)
	d.trim(0, 0, new("s"))
	require.Equal(t, []string{
		`0 summary p-1 "s"`, "0 trim p-1, 0 hidden, Earlier messages: none pruned", "0 begin u-7", "0 i-0 u-7",
	}, d.all(t))
	require.Empty(t, newDiary().all(t))
}

// TestACursorOutlivesItsTrimPoint continues at a summary or a trim point that was removed or moved
// since.
func TestACursorOutlivesItsTrimPoint(t *testing.T) {
	whole := []string{"summary", "trim", "begin", "i-5", "i-6", "end"}
	for _, tt := range []struct {
		name     string
		position int64 // of the trim point
		page     []string
		change   func(d *diary)
		want     []string
	}{
		{"undone", 4, []string{"trim", "begin", "i-5", "i-6", "end"}, (*diary).undo, []string{"2 i-2 u-1", "3 end u-1"}},
		{"undone with its summary", 4, whole, (*diary).undo, []string{"2 i-2 u-1", "3 end u-1"}},
		{"without its summary", 4, whole, (*diary).removeSummary, []string{"2 i-2 u-1", "3 end u-1"}},
		{"followed by more", 8, []string{"summary", "trim"}, (*diary).addTurn, []string{"6 i-6 u-2", "7 end u-2"}},
		{"followed by more", 8, []string{"trim"}, (*diary).addTurn, []string{"7 end u-2", `9 summary p-1 "s"`}},
	} {
		d := twoTurns()
		d.trim(tt.position, 2, new("s"))
		page, cursor := d.page(t, nil, uint32(len(tt.page)))
		for i := range page {
			require.Equal(t, tt.page[i], strings.Fields(page[i])[1], tt.name)
		}
		tt.change(d)
		older, _ := d.page(t, cursor, 2)
		require.Equal(t, tt.want, untrimmed(older), tt.name)
	}
}

func (d *diary) undo()          { d.points = nil }
func (d *diary) removeSummary() { d.points[0].Summary = nil }

// addTurn begins a turn after a trim point that was last.
func (d *diary) addTurn() {
	d.begin()
	d.points[0].Position = d.Event(d.EventCount() - 1).Position
}

// all returns the whole timeline, in one page.
func (d *diary) all(t require.TestingT) []string {
	entries, next := d.page(t, nil, largestPage)
	require.Nil(t, next)
	return entries
}

// anything adds a line or a trim point.
func (d *diary) anything(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "kind of line") {
	case 0, 1:
		d.begin()
	case 2, 3:
		d.end()
	case 4:
		d.skip()
	case 5:
		d.trim(rapid.Int64Range(0, d.next+1).Draw(t, "position"), 1, new("s"))
	default:
		kind := rapid.SampledFrom([]string{"UserMessage", "AgentMessage", "Reasoning", "Hologram"}).Draw(t, "kind")
		d.addItem(kind, rapid.IntRange(max(d.turns-1, 0), d.turns+1).Draw(t, "turn"))
	}
}

// TestPagesOfATimelineStay reads any thread page by page, while lines and trim points are added. The
// pages have each entry of the first moment once, and no new entries but those of trim points.
func TestPagesOfATimelineStay(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		d := newDiary()
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			d.anything(t)
		}
		want, known := untrimmed(d.all(t)), d.made
		var got []string
		cursor, more := (*string)(nil), true
		for more {
			var page []string
			page, cursor = d.page(t, cursor, rapid.Uint32Range(0, 12).Draw(t, "limit"))
			got, more = append(untrimmed(page), got...), cursor != nil
			for range rapid.IntRange(0, 5).Draw(t, "new lines") {
				d.anything(t)
			}
		}
		got = slices.DeleteFunc(got, func(entry string) bool { return d.isNew(entry, known) })
		require.Equal(t, want, got)
	})
}

// isNew reports whether an entry belongs to a trim point after the first known ones.
func (d *diary) isNew(entry string, known int) bool {
	for i := known + 1; i <= d.made; i++ {
		trim, summary := fmt.Sprintf(" trim p-%d,", i), fmt.Sprintf(" summary p-%d ", i)
		if strings.Contains(entry, trim) || strings.Contains(entry, summary) {
			return true
		}
	}
	return false
}

// untrimmed returns entries without the mark that later trim points add.
func untrimmed(entries []string) []string {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i] = strings.TrimSuffix(entries[i], " trimmed")
	}
	return entries
}
