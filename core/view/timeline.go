package view

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"appserver/core/history"
	"appserver/core/page"
	"appserver/core/transcript"
	"appserver/protocol"
)

// The default and the largest number of entries on a page of the timeline.
const (
	timelinePage    = 100
	maxTimelinePage = 1000
)

// TimelinePage returns the page before a cursor, or the newest one if cursor is nil. points are the
// trim points in the order of their edits. The cost grows with the page and with the number of trim
// points, not with the thread.
func (t *Thread) TimelinePage(
	points []history.TrimPoint, cursor *string, limit *uint32,
) (answer protocol.ThreadTimelineListResponse, err *protocol.Error) {
	l := t.timeline(points)
	end := len(t.Transcript.Events()) + len(l.marks)
	if cursor != nil {
		at, found := l.find(*cursor)
		if !found {
			return answer, errCursor("thread timeline cursor", *cursor)
		}
		end = at
	}
	begin := max(end-page.Size(limit, timelinePage, maxTimelinePage), 0)
	answer.Data = make([]protocol.ThreadTimelineEntry, 0, end-begin)
	for i := begin; i < end; i++ {
		answer.Data = append(answer.Data, protocol.ThreadTimelineEntry{ThreadTimelineEntryVariant: l.entry(i)})
	}
	if begin > 0 {
		answer.NextCursor = new(l.cursor(begin))
	}
	return answer, nil
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
	events := l.Transcript.Events()
	for i := l.Transcript.EventFrom(c.Position); i < len(events) && events[i].Position == c.Position; i++ {
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
	return nil, l.Transcript.Events()[index-k]
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
		return rankTurnStarted, l.Transcript.Turn(int(e.Turn)).ID
	case transcript.TurnEnded:
		return rankTurnCompleted, l.Transcript.Turn(int(e.Turn)).ID
	}
	return rankItem, l.Transcript.ItemAt(e).ID()
}
