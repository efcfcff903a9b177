package view

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"appserver/core/pure/history"
	"appserver/core/pure/page"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// The default and the largest number of entries on a page of the timeline.
const (
	timelinePage    = 100
	maxTimelinePage = 1000
)

// TimelineQuery selects a page of the timeline. See protocol.ThreadTimelineListParams.
type TimelineQuery struct {
	Cursor, From, Around, Turn *string
	Limit, TextLimit           *uint32
	IncludeTotal               bool
}

// TimelinePage returns a page of the timeline. points are the trim points in the order of their edits.
// The cost grows with the page and with the number of trim points, not with the thread. To find an item
// without its turn, the lines of all later items are read.
func (t *Thread) TimelinePage(
	points []history.TrimPoint, q TimelineQuery,
) (answer protocol.ThreadTimelineListResponse, err *protocol.Error) {
	l := t.timeline(points)
	begin, end, err := l.bounds(q)
	if err != nil {
		return answer, err
	}
	answer.Data = make([]protocol.ThreadTimelineEntry, 0, end-begin)
	for i := begin; i < end; i++ {
		entry := l.entry(i)
		if item, ok := entry.(*protocol.TimelineItem); ok && q.TextLimit != nil {
			item.Item, item.Truncated = shortItem(item.Item, int(*q.TextLimit))
		}
		answer.Data = append(answer.Data, protocol.ThreadTimelineEntry{ThreadTimelineEntryVariant: entry})
	}
	switch {
	case begin == l.length(): // From names a trim point at the end that was undone since
		answer.NextCursor = q.From
	case begin > 0:
		answer.NextCursor = new(l.cursor(begin))
	}
	if end < l.length() && (q.From != nil || q.Around != nil) {
		answer.NewerCursor = new(l.cursor(end))
	}
	if end == l.length() && t.InProgress != nil {
		answer.InProgress = t.InProgress()
	}
	if q.IncludeTotal {
		answer.FirstIndex, answer.Total = &begin, new(l.length())
	}
	return answer, nil
}

// bounds returns the index of the first entry of a page, and of the one after its last.
func (l *timeline) bounds(q TimelineQuery) (begin, end int, err *protocol.Error) {
	size := page.Size(q.Limit, timelinePage, maxTimelinePage)
	switch {
	case given(q.Cursor, q.From, q.Around) > 1:
		return 0, 0, protocol.InvalidParams("cursor", "only one of `cursor`, `from` and `around` can be given")
	case q.Turn != nil && q.Around == nil:
		return 0, 0, protocol.InvalidParams("turnId", "`turnId` can be given with `around` only")
	case q.From != nil:
		if begin, err = l.entryOf(*q.From); err != nil {
			return 0, 0, err
		}
		return begin, min(begin+size, l.length()), nil
	case q.Around != nil:
		event, found := l.lastItem(q.Turn, *q.Around)
		if !found {
			return 0, 0, errNoItem("around", *q.Around)
		}
		begin = max(min(l.indexOf(event)-size/2, l.length()-size), 0)
		return begin, min(begin+size, l.length()), nil
	case q.Cursor != nil:
		if end, err = l.entryOf(*q.Cursor); err != nil {
			return 0, 0, err
		}
	default:
		end = l.length()
	}
	return max(end-size, 0), end, nil
}

func given(values ...*string) (n int) {
	for _, v := range values {
		if v != nil {
			n++
		}
	}
	return n
}

func (l *timeline) length() int { return l.Transcript.EventCount() + len(l.marks) }

// entryOf returns the index of the entry that a cursor names.
func (l *timeline) entryOf(cursor string) (index int, err *protocol.Error) {
	index, found := l.find(cursor)
	if !found {
		return 0, errCursor("thread timeline cursor", cursor)
	}
	return index, nil
}

// ReadItem returns the last item with an id, of one turn or of all. An item in progress has what clients have received
// of it.
func (t *Thread) ReadItem(turnID *string, id string) (answer protocol.ThreadItemReadResponse, err *protocol.Error) {
	if item, found := t.itemInProgress(turnID, id); found {
		return protocol.ThreadItemReadResponse{TurnID: item.TurnID, Position: transcript.None, Item: item.Item}, nil
	}
	event, found := t.lastItem(turnID, id)
	if !found {
		return answer, errNoItem("itemId", id)
	}
	e := t.Transcript.Event(event)
	return protocol.ThreadItemReadResponse{TurnID: t.Transcript.TurnID(int(e.Turn)), Position: e.Position,
		Item: t.Transcript.ItemAt(e).ThreadItem()}, nil
}

func (t *Thread) itemInProgress(turnID *string, id string) (entry protocol.ThreadItemEntry, found bool) {
	if t.InProgress == nil {
		return entry, false
	}
	for _, entry := range t.InProgress() {
		if entry.Item.ItemID() == id && (turnID == nil || *turnID == entry.TurnID) {
			return entry, true
		}
	}
	return entry, false
}

// lastItem returns the index of the last event of an item with an id, of one turn or of all.
func (t *Thread) lastItem(turnID *string, id string) (event int, found bool) {
	turn := transcript.None
	if turnID != nil {
		if turn, found = t.Transcript.IndexOf(*turnID); !found {
			return 0, false
		}
	}
	return t.Transcript.LastItem(turn, id)
}

func errNoItem(field, id string) *protocol.Error {
	err := protocol.Refuse(protocol.KindItemNotFound, "this thread has no item %s", id)
	err.Data.Field = field
	return err
}

// timeline is the list of a thread's events with the marks of its trim points between them. The
// oldest entry has index 0. Entries are built when they are requested.
type timeline struct {
	*Thread
	marks  []mark
	latest *history.TrimPoint // or nil
}

// mark is the entry of a trim point.
type mark struct {
	index int // in the timeline
	rank  rank
	point *history.TrimPoint
}

// rank orders the entries at one position. Cursors contain ranks.
type rank int

const (
	rankSummary rank = iota
	rankTrimPoint
	rankTurnStarted
	rankItem
	rankTurnCompleted
)

// timeline places the marks. Trim points at one position keep the order of their edits. At
// different positions a later trim point may precede an earlier one.
func (t *Thread) timeline(points []history.TrimPoint) *timeline {
	l := &timeline{Thread: t}
	if len(points) > 0 {
		l.latest = &points[len(points)-1]
	}
	placed := make([]*history.TrimPoint, len(points))
	for i := range points {
		placed[i] = &points[i]
	}
	slices.SortStableFunc(placed, func(a, b *history.TrimPoint) int { return cmp.Compare(a.Position, b.Position) })
	for _, p := range placed {
		before := t.Transcript.EventFrom(p.Position)
		if p.Summary != nil {
			l.marks = append(l.marks, mark{before + len(l.marks), rankSummary, p})
		}
		l.marks = append(l.marks, mark{before + len(l.marks), rankTrimPoint, p})
	}
	return l
}

// timelineCursor names an entry by its position in the rollout.
type timelineCursor struct {
	Thread   string `json:"t"`
	Position int64  `json:"p"`
	Rank     rank   `json:"r"`
	ID       string `json:"i"`
}

// find returns the index of the entry that a cursor names. It reports false for a cursor of another
// thread. For a trim point that was undone since, it returns the entry after it: no previous page
// has the entries before it.
func (l *timeline) find(cursor string) (index int, found bool) {
	c, ok := decodeCursor[timelineCursor](cursor)
	switch {
	case !ok || c.Thread != l.ID:
		return 0, false
	case c.Rank <= rankTrimPoint:
		return l.findMark(c), true
	}
	for i := l.Transcript.EventFrom(c.Position); i < l.Transcript.EventCount(); i++ {
		if l.Transcript.Event(i).Position != c.Position {
			break
		}
		if index := l.indexOf(i); l.cursor(index) == cursor {
			return index, true
		}
	}
	return 0, false
}

// findMark returns the index of the mark that a cursor names. It searches by id, because lines that
// are added can move a mark that was last. If a summary was removed, its trim point replaces it.
func (l *timeline) findMark(c timelineCursor) int {
	for _, m := range l.marks {
		if m.point.ID == c.ID && m.rank >= c.Rank {
			return m.index
		}
	}
	return l.indexOf(l.Transcript.EventFrom(c.Position))
}

// indexOf returns the index in the timeline of an event, or of the end. The marks at its position
// precede it.
func (l *timeline) indexOf(event int) int {
	return event + sort.Search(len(l.marks), func(k int) bool { return l.marks[k].index-k > event })
}

// at returns the mark at an index, or nil and the event.
func (l *timeline) at(index int) (*mark, transcript.Event) {
	compare := func(m mark, index int) int { return cmp.Compare(m.index, index) }
	k, found := slices.BinarySearchFunc(l.marks, index, compare)
	if found {
		return &l.marks[k], transcript.Event{}
	}
	return nil, l.Transcript.Event(index - k)
}

func (l *timeline) entry(index int) protocol.ThreadTimelineEntryVariant {
	m, e := l.at(index)
	if m != nil {
		return l.markEntry(m)
	}
	return l.eventEntry(e)
}

func (l *timeline) markEntry(m *mark) protocol.ThreadTimelineEntryVariant {
	p, trimmed := m.point, m.point != l.latest
	if m.rank == rankSummary {
		return &protocol.TimelineSummary{Position: p.Position, TrimPointID: p.ID, Text: *p.Summary, Trimmed: trimmed}
	}
	return &protocol.TimelineTrimPoint{
		Position: p.Position, TrimPoint: p.TrimPoint,
		HiddenMessageCount: l.Transcript.MessagesBefore(p.Position),
		Label:              trimLabel(p.PrunedMessageCount), Trimmed: trimmed,
	}
}

func trimLabel(pruned int) string {
	if pruned == 0 {
		return "Earlier messages: none pruned"
	}
	return fmt.Sprintf("Earlier messages: %d pruned", pruned)
}

func (l *timeline) eventEntry(e transcript.Event) protocol.ThreadTimelineEntryVariant {
	turn, trimmed := l.Transcript.Turn(int(e.Turn)), l.latest != nil && e.Position < l.latest.Position
	switch e.Item {
	case transcript.TurnBegan:
		return &protocol.TimelineTurnStarted{
			Position: e.Position, TurnID: turn.ID, StartedAt: turn.StartedAt, Trimmed: trimmed,
		}
	case transcript.TurnEnded:
		return &protocol.TimelineTurnCompleted{
			Position: e.Position, TurnID: turn.ID, Status: turn.Status, Error: turn.Err,
			StartedAt: turn.StartedAt, CompletedAt: turn.CompletedAt, DurationMs: turn.DurationMs, Trimmed: trimmed,
		}
	}
	item := l.Transcript.ItemAt(e).ThreadItem()
	return &protocol.TimelineItem{Position: e.Position, TurnID: turn.ID, Item: item, Trimmed: trimmed}
}

// cursor returns the cursor of an entry.
func (l *timeline) cursor(index int) string {
	c := timelineCursor{Thread: l.ID}
	if m, e := l.at(index); m != nil {
		c.Position, c.Rank, c.ID = m.point.Position, m.rank, m.point.ID
	} else {
		c.Position = e.Position
		c.Rank, c.ID = l.nameOf(e)
	}
	return encodeCursor(c)
}

func (l *timeline) nameOf(e transcript.Event) (r rank, id string) {
	switch e.Item {
	case transcript.TurnBegan:
		return rankTurnStarted, l.Transcript.TurnID(int(e.Turn))
	case transcript.TurnEnded:
		return rankTurnCompleted, l.Transcript.TurnID(int(e.Turn))
	}
	return rankItem, l.Transcript.ItemAt(e).ID()
}
