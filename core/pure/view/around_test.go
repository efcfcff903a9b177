package view_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/view"
	"appserver/protocol"
	"appserver/test/sample"
)

// TestPagesAroundAnItemLeadBothWays reads a page around any item of any thread, and from there all older
// and newer pages. Together they have each entry once, in order.
func TestPagesAroundAnItemLeadBothWays(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		d := newDiary()
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			d.anything(t)
		}
		d.begin()
		d.addItem("UserMessage", d.turns)
		ids := itemIDs(d)
		around := rapid.SampledFrom(ids).Draw(t, "item")
		limit := rapid.Uint32Range(1, 12).Draw(t, "limit")
		page := d.query(t, view.TimelineQuery{Around: &around, Limit: &limit, IncludeTotal: true})
		require.Contains(t, strings.Join(page.entries, "\n"), " "+around+" ")
		whole := d.all(t)
		require.Equal(t, len(whole), *page.answer.Total)
		require.Equal(t, page.entries[0], whole[*page.answer.FirstIndex])

		got, older := page.entries, page.answer.NextCursor
		for older != nil {
			p := d.query(t, view.TimelineQuery{Cursor: older, Limit: &limit})
			require.Nil(t, p.answer.NewerCursor, "only pages from a newer cursor or around an item have one")
			got, older = append(p.entries, got...), p.answer.NextCursor
		}
		for newer := page.answer.NewerCursor; newer != nil; {
			p := d.query(t, view.TimelineQuery{From: newer, Limit: &limit})
			got, newer = append(got, p.entries...), p.answer.NewerCursor
		}
		require.Equal(t, whole, got)
	})
}

// TestPagesAroundAnItemStay reads pages in both directions while lines and trim points are added, and
// trim points are undone. The pages have each turn and item of the first moment once, in order.
func TestPagesAroundAnItemStay(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		d := newDiary()
		d.begin()
		d.addItem("UserMessage", d.turns)
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			d.anything(t)
		}
		around := rapid.SampledFrom(itemIDs(d)).Draw(t, "item")
		want := withoutMarks(d.all(t))
		limit := rapid.Uint32Range(1, 12)
		page := d.query(t, view.TimelineQuery{Around: &around, Limit: new(limit.Draw(t, "limit"))})
		got, older, newer := page.entries, page.answer.NextCursor, page.answer.NewerCursor
		for older != nil || newer != nil {
			d.change(t)
			if newer == nil || older != nil && rapid.Bool().Draw(t, "older") {
				p := d.query(t, view.TimelineQuery{Cursor: older, Limit: new(limit.Draw(t, "limit"))})
				got, older = append(p.entries, got...), p.answer.NextCursor
				continue
			}
			p := d.query(t, view.TimelineQuery{From: newer, Limit: new(limit.Draw(t, "limit"))})
			got, newer = append(got, p.entries...), p.answer.NewerCursor
			if len(withoutMarks(got)) > 2*len(want)+200 {
				break // the thread grows faster than it is read
			}
		}
		require.Equal(t, want, withoutMarks(got)[:len(want)])
	})
}

// change adds lines and trim points, and undoes trim points.
func (d *diary) change(t *rapid.T) {
	for range rapid.IntRange(0, 3).Draw(t, "new lines") {
		d.anything(t)
	}
	if len(d.points) > 0 && rapid.Bool().Draw(t, "undo") {
		d.points = d.points[:len(d.points)-1]
	}
}

// withoutMarks returns the entries of turns and items, without the mark that trim points add.
func withoutMarks(entries []string) []string {
	return slices.DeleteFunc(untrimmed(entries), func(entry string) bool {
		return strings.Contains(entry, " trim p-") || strings.Contains(entry, " summary p-")
	})
}

// TestANewerCursorOutlivesItsTrimPoint continues after the divider at the end was undone. The page is
// empty, and its cursor leads back to the entries before.
func TestANewerCursorOutlivesItsTrimPoint(t *testing.T) {
	d := twoTurns()
	d.trim(8, 2, nil)
	page := d.query(t, view.TimelineQuery{Around: new("i-6"), Limit: new(uint32(3))})
	require.Equal(t, []string{"5 i-5 u-2 trimmed", "6 i-6 u-2 trimmed", "7 end u-2 trimmed"}, page.entries)
	d.undo()
	newer := d.query(t, view.TimelineQuery{From: page.answer.NewerCursor})
	require.Empty(t, newer.entries)
	require.Nil(t, newer.answer.NewerCursor)
	older := d.query(t, view.TimelineQuery{Cursor: newer.answer.NextCursor, Limit: new(uint32(2))})
	require.Equal(t, []string{"6 i-6 u-2", "7 end u-2"}, older.entries)
}

// TestAroundAnItemOfOneTurn finds the item of the turn, if its id repeats in a later one.
func TestAroundAnItemOfOneTurn(t *testing.T) {
	d := newDiary()
	for turn := 1; turn <= 2; turn++ {
		d.begin()
		d.line(func(l *line) { d.ItemCompleted(l) },
			`{"type":"item_completed","turn_id":"u-%d","item":{"type":"AgentMessage","id":"same","content":[]}}`, turn)
		d.end()
	}
	q := view.TimelineQuery{Around: new("same"), Limit: new(uint32(1))}
	require.Equal(t, []string{"4 same u-2"}, d.query(t, q).entries)
	q.Turn = new("u-1")
	require.Equal(t, []string{"1 same u-1"}, d.query(t, q).entries)
	for name, q := range map[string]view.TimelineQuery{
		"itemNotFound around":  {Around: new("same"), Turn: new("u-9")},
		"invalidParams turnId": {Turn: new("u-1")},
		"invalidParams cursor": {Around: new("same"), From: new("x")},
		"itemNotFound around ": {Around: new("none")},
	} {
		_, err := d.thread().TimelinePage(d.points, q)
		require.NotNil(t, err, name)
		require.Equal(t, strings.TrimSpace(name), string(err.Data.Kind)+" "+err.Data.Field)
	}
}

// timelineAnswer is a page, also as lines of text.
type timelineAnswer struct {
	answer  protocol.ThreadTimelineListResponse
	entries []string
}

func (d *diary) query(t require.TestingT, q view.TimelineQuery) (page timelineAnswer) {
	answer, err := d.thread().TimelinePage(d.points, q)
	require.Nil(t, err)
	page.answer = answer
	for _, e := range answer.Data {
		page.entries = append(page.entries, entryText(t, e))
	}
	return page
}

func itemIDs(d *diary) (ids []string) {
	for i := range d.EventCount() {
		if e := d.Event(i); e.Item >= 0 {
			ids = append(ids, d.ItemAt(e).ID())
		}
	}
	return ids
}

// TestItemIsReadFromItsTurn returns the last item with an id, or that of one turn.
func TestItemIsReadFromItsTurn(t *testing.T) {
	d := newDiary()
	for turn := 1; turn <= 2; turn++ {
		d.begin()
		d.line(func(l *line) { d.ItemCompleted(l) },
			`{"type":"item_completed","turn_id":"u-%d","item":{"type":"AgentMessage","id":"same","content":[]}}`, turn)
		d.end()
	}
	read := func(turn *string, id string) string {
		answer, err := d.thread().ReadItem(turn, id)
		if err != nil {
			return string(err.Data.Kind) + " " + err.Data.Field
		}
		return fmt.Sprint(answer.TurnID, " ", answer.Position, " ", answer.Item.ItemID())
	}
	require.Equal(t, "u-2 4 same", read(nil, "same"))
	require.Equal(t, "u-1 1 same", read(new("u-1"), "same"))
	require.Equal(t, "itemNotFound itemId", read(new("u-1"), "other"))
	require.Equal(t, "itemNotFound itemId", read(new("u-9"), "same"))
}

// TestTextLimitCutsEveryText keeps the end of outputs and the beginning of other texts, marks the item,
// and leaves short items alone.
func TestTextLimitCutsEveryText(t *testing.T) {
	long := strings.Repeat("ä", 30) + "end"
	d := newDiary()
	d.begin()
	for _, item := range []string{
		`{"type":"AgentMessage","id":"a","content":[{"type":"Text","text":"` + long + `"}]}`,
		`{"type":"Reasoning","id":"b","summary_text":["short","` + long + `"],"raw_content":[]}`,
		`{"type":"CommandExecution","id":"c","command":["ls"],"cwd":"/","parsed_cmd":[],"source":"agent",` +
			`"status":"completed","aggregated_output":"` + long + `"}`,
		`{"type":"UserMessage","id":"d","content":[{"type":"text","text":"` + long + `","text_elements":[]},` +
			`{"type":"image","image_url":"data:image/png;base64,AAAAAAAAAAAAAAAAAAAA"}]}`,
		`{"type":"AgentMessage","id":"e","content":[{"type":"Text","text":"short"}]}`,
	} {
		d.line(func(l *line) { d.ItemCompleted(l) }, `{"type":"item_completed","turn_id":"u-1","item":%s}`, item)
	}
	texts := map[string]string{}
	for _, e := range d.query(t, view.TimelineQuery{TextLimit: new(uint32(10))}).answer.Data {
		entry, ok := e.ThreadTimelineEntryVariant.(*protocol.TimelineItem)
		if !ok {
			continue
		}
		switch v := entry.Item.ThreadItemVariant.(type) {
		case *protocol.AgentMessageItem:
			texts[v.ID] = v.Text
		case *protocol.ReasoningItem:
			texts[v.ID] = strings.Join(v.Summary, "|")
		case *protocol.CommandExecutionItem:
			texts[v.ID] = *v.AggregatedOutput
		case *protocol.UserMessageItem:
			texts[v.ID] = v.Content[0].UserInputVariant.(*protocol.TextInput).Text + "|" +
				v.Content[1].UserInputVariant.(*protocol.ImageInput).URL
		}
		require.Equal(t, entry.Item.ItemID() != "e", entry.Truncated, entry.Item.ItemID())
	}
	ten := strings.Repeat("ä", 10)
	require.Equal(t, map[string]string{
		"a": ten + "…", "b": "short|" + ten + "…", "c": "…" + strings.Repeat("ä", 7) + "end", "d": ten + "…|data:,", "e": "short",
	}, texts)
	require.True(t, utf8.ValidString(texts["c"]))
}
