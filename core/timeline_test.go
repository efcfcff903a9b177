package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/pure/view"
	"appserver/protocol"
)

// timeline requests a page of the timeline.
func timeline(m *machine, a arguments, b *strings.Builder) error {
	in := core.ListTimeline{To: m.caller(), Query: view.TimelineQuery{Cursor: a.option("cursor")}}
	if a.has("older") {
		in.Query.Cursor = m.older
	}
	if a.option("limit") != nil {
		limit, err := a.number("limit", 0)
		if err != nil {
			return err
		}
		in.Query.Limit = new(uint32(limit))
	}
	out := m.take(in)
	if r, ok := out.Messages[0].(core.Reply); ok {
		m.older = r.Result.(protocol.ThreadTimelineListResponse).NextCursor
	}
	printOutput(b, out)
	return nil
}

// timelineText returns a page with one entry a line.
func timelineText(p gjson.Result) string {
	text := "timeline"
	if p.Get("nextCursor").Type == gjson.Null {
		text += " from the begin"
	}
	for _, e := range p.Get("data").Array() {
		text += "\n  " + words(e.Get("position").Raw, e.Get("type").Str, e.Get("turnId").Str, e.Get("status").Str,
			durationText(e.Get("durationMs")), shortIf("error=", e.Get("error.message")))
		if item := e.Get("item"); item.Exists() {
			text = words(text, itemText(item))
		}
		if point := e.Get("trimPoint"); point.Exists() {
			text = words(text, point.Get("id").Str, "hidden="+e.Get("hiddenMessageCount").Raw, short(e.Get("label").Str))
		}
		text = words(text, e.Get("trimPointId").Str, shortIf("", e.Get("text")))
		if e.Get("trimmed").Bool() {
			text += " trimmed"
		}
	}
	return text
}

// most is the largest page.
var most = uint32(1000)

// pageOf returns a page of a thread's timeline. It does not change the thread.
func pageOf(t *core.Thread, cursor *string, limit uint32) protocol.ThreadTimelineListResponse {
	out := t.Step(core.Stamp{Now: time.Now()}, core.ListTimeline{Query: view.TimelineQuery{Cursor: cursor, Limit: &limit}})
	return out.Messages[0].(core.Reply).Result.(protocol.ThreadTimelineListResponse)
}

// checkTimeline checks that pages of any size have the same list, that it can be encoded, and that it has
// the items of each turn once, in order, after the start of the turn.
func checkTimeline(t *testing.T, m *machine) {
	t.Helper()
	whole := pages(m.thread, most)
	for _, size := range []uint32{0, 3} {
		require.Equal(t, encode(whole), encode(pages(m.thread, size)), "pages of %d", size)
	}
	items, begun, position := map[string][]string{}, map[string]bool{}, int64(0)
	for _, entry := range whole {
		_, err := protocol.Marshal(entry)
		require.NoError(t, err)
		e := gjson.Parse(encode(entry))
		id := e.Get("turnId").Str
		require.GreaterOrEqual(t, e.Get("position").Int(), position)
		position = e.Get("position").Int()
		switch e.Get("type").Str {
		case "turnStarted":
			require.False(t, begun[id], "turn %s begins twice", id)
			begun[id] = true
		case "item":
			items[id] = append(items[id], e.Get("item").Raw)
		}
		require.True(t, begun[id], "turn %s has not begun: %s", id, e.Raw)
	}
	for _, turn := range m.thread.View(true).Turns {
		var shown []string
		for _, item := range turn.Items {
			shown = append(shown, encode(item))
		}
		require.Equal(t, shown, items[gjson.Parse(encode(turn)).Get("id").Str])
	}
}

// pages returns all entries, read page by page.
func pages(t *core.Thread, size uint32) (entries []protocol.ThreadTimelineEntry) {
	for cursor := (*string)(nil); ; {
		page := pageOf(t, cursor, size)
		entries = append(slices.Clone(page.Data), entries...)
		if cursor = page.NextCursor; cursor == nil {
			return entries
		}
	}
}

// TestAPageDecodesItsOwnItemsOnly compares the allocations of a page, and of one item, in threads of 50
// and of 5,000 turns.
func TestAPageDecodesItsOwnItemsOnly(t *testing.T) {
	limit := new(uint32(20))
	for name, in := range map[string]core.Input{
		"newest page": core.ListTimeline{Query: view.TimelineQuery{Limit: limit}},
		"page around an old item": core.ListTimeline{Query: view.TimelineQuery{
			Around: new("i-20-1"), Turn: new("u-20"), Limit: limit, IncludeTotal: true,
		}},
		"short page": core.ListTimeline{Query: view.TimelineQuery{Limit: limit, TextLimit: new(uint32(1))}},
		"old item":   core.ReadItem{ID: "i-20-1", Turn: new("u-20")},
	} {
		t.Run(name, func(t *testing.T) { requireSameCost(t, in) })
	}
}

// requireSameCost compares the allocations of an input in a short and in a long thread.
func requireSameCost(t *testing.T, in core.Input) {
	t.Helper()
	cost := func(turns int) float64 {
		lines := longThread(turns)
		load := func() *core.Thread { return core.Load(threadID, core.Options{}, core.Settings{}, lines) }
		fresh := []*core.Thread{load(), load()} // since the first run does not count
		return testing.AllocsPerRun(1, func() {
			out := fresh[0].Step(core.Stamp{Now: time.Now()}, in)
			require.IsType(t, core.Reply{}, out.Messages[0])
			fresh = fresh[1:]
		})
	}
	require.InDelta(t, cost(50), cost(5000), 50)
}

// longThread returns the lines of a thread.
func longThread(turns int) []protocol.RolloutLine {
	var b strings.Builder
	b.WriteString(`{"type":"session_meta","payload":{"id":"t-1","history_mode":"paginated"}}` + "\n")
	for i := range turns {
		fmt.Fprintf(&b, `{"type":"event_msg","payload":{"type":"task_started","turn_id":"u-%d"}}`+"\n", i)
		for k := range 4 {
			fmt.Fprintf(&b, `{"type":"event_msg","payload":{"type":"item_completed","turn_id":"u-%d","item":{"type":"AgentMessage","id":"i-%d-%d","content":[{"type":"Text","text":"word"}]}}}`+"\n", i, i, k)
		}
		fmt.Fprintf(&b, `{"type":"event_msg","payload":{"type":"task_complete","turn_id":"u-%d"}}`+"\n", i)
	}
	return linesOf([]byte(b.String()))
}
