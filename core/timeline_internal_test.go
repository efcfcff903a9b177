package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/history"
	"appserver/protocol"
)

// diary is a thread whose lines and trim points a test chooses.
type diary struct {
	log
	points []history.TrimPoint
	turns  int
	made   int // trim points so far
}

func newDiary() *diary { return &diary{log: log{id: "t-1"}} }

func (d *diary) line(kind, format string, args ...any) {
	d.apply(&protocol.RolloutLine{Type: kind, Payload: json.RawMessage(fmt.Sprintf(format, args...))})
}

func (d *diary) begin() {
	d.turns++
	d.line("event_msg", `{"type":"task_started","turn_id":"u-%d"}`, d.turns)
}

func (d *diary) end() { d.line("event_msg", `{"type":"task_complete"}`) }

// say adds an item to a turn, which need not be the last one, nor one that began.
func (d *diary) say(kind string, turn int) {
	d.line("event_msg", `{"type":"item_completed","turn_id":"u-%d","item":{"type":%q,"id":"i-%d"}}`, turn, kind, d.next)
}

// trim adds a trim point before the first moment at a position or behind it.
func (d *diary) trim(position int64, pruned int, summary *string) {
	if i := d.transcript.EventFrom(position); i < len(d.transcript.Events()) {
		position = d.transcript.Events()[i].Position
	} else {
		position = d.next
	}
	d.line("trim_point", `{}`)
	d.made++
	d.points = append(d.points, history.TrimPoint{TrimPoint: protocol.TrimPoint{ID: fmt.Sprintf("p-%d", d.made), PrunedMessageCount: pruned, Summary: summary}, Position: position})
}

// page is a page as lines of text.
func (d *diary) page(t require.TestingT, cursor *string, limit uint32) (entries []string, next *string) {
	page, err := timelinePage(&d.log, d.points, cursor, &limit)
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
		text, trimmed = fmt.Sprintf("%d trim %s, %d hidden, %s", v.Position, v.TrimPoint.ID, v.HiddenMessageCount, v.Label), v.Trimmed
	default:
		require.Fail(t, "an entry of no kind", "%T", v)
	}
	if trimmed {
		text += " trimmed"
	}
	return text
}

// twoTurns are lines 0 to 7: two turns with a message of each side.
func twoTurns() *diary {
	d := newDiary()
	for range 2 {
		d.begin()
		d.say("UserMessage", d.turns)
		d.say("AgentMessage", d.turns)
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
	d.say("UserMessage", 7)
	d.trim(0, 0, new("s"))
	require.Equal(t, []string{`0 summary p-1 "s"`, "0 trim p-1, 0 hidden, Earlier messages: none pruned", "0 begin u-7", "0 i-0 u-7"}, d.all(t))
	require.Empty(t, newDiary().all(t))
}

// TestACursorOutlivesItsTrimPoint goes on from a summary or a divider that is gone, or
// elsewhere, since.
func TestACursorOutlivesItsTrimPoint(t *testing.T) {
	for _, tt := range []struct {
		name     string
		position int64 // of the trim point
		page     []string
		change   func(d *diary)
		want     []string
	}{
		{"undone", 4, []string{"trim", "begin", "i-5", "i-6", "end"}, (*diary).undo, []string{"2 i-2 u-1", "3 end u-1"}},
		{"undone with its summary", 4, []string{"summary", "trim", "begin", "i-5", "i-6", "end"}, (*diary).undo, []string{"2 i-2 u-1", "3 end u-1"}},
		{"without its summary", 4, []string{"summary", "trim", "begin", "i-5", "i-6", "end"}, (*diary).unsay, []string{"2 i-2 u-1", "3 end u-1"}},
		{"followed by more", 8, []string{"summary", "trim"}, (*diary).follow, []string{"6 i-6 u-2", "7 end u-2"}},
		{"followed by more", 8, []string{"trim"}, (*diary).follow, []string{"7 end u-2", `9 summary p-1 "s"`}},
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

func (d *diary) undo()  { d.points = nil }
func (d *diary) unsay() { d.points[0].Summary = nil }

// follow has a turn begin behind a trim point that had nothing behind it.
func (d *diary) follow() {
	d.begin()
	d.points[0].Position = d.transcript.Events()[len(d.transcript.Events())-1].Position
}

// all is the whole timeline, in one page.
func (d *diary) all(t require.TestingT) []string {
	entries, next := d.page(t, nil, timelineMost)
	require.Nil(t, next)
	return entries
}

// anything adds a line or a trim point.
func (d *diary) anything(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0, 1:
		d.begin()
	case 2, 3:
		d.end()
	case 4:
		d.line("response_item", `{"type":"message","role":"user","content":[]}`)
	case 5:
		d.trim(rapid.Int64Range(0, d.next+1).Draw(t, "position"), 1, new("s"))
	default:
		kind := rapid.SampledFrom([]string{"UserMessage", "AgentMessage", "Reasoning", "Hologram"}).Draw(t, "kind")
		d.say(kind, rapid.IntRange(max(d.turns-1, 0), d.turns+1).Draw(t, "turn"))
	}
}

// TestPagesOfATimelineStay reads any thread page by page, while more is said and trimmed:
// the pages make up the list as it was when the first page was read, each entry once, and
// what is new among them is of trim points only.
func TestPagesOfATimelineStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
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

// isNew tells whether an entry is of a trim point that was made after the first known ones.
func (d *diary) isNew(entry string, known int) bool {
	for i := known + 1; i <= d.made; i++ {
		if strings.Contains(entry, fmt.Sprintf(" trim p-%d,", i)) || strings.Contains(entry, fmt.Sprintf(" summary p-%d ", i)) {
			return true
		}
	}
	return false
}

// untrimmed are entries without what later trim points change.
func untrimmed(entries []string) []string {
	entries = slices.Clone(entries)
	for i := range entries {
		entries[i] = strings.TrimSuffix(entries[i], " trimmed")
	}
	return entries
}
