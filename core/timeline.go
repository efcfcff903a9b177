package core

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"appserver/core/history"
	"appserver/core/transcript"
	"appserver/protocol"
)

// ListTimeline asks for a page of the timeline.
type ListTimeline struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
}

func (in ListTimeline) apply(s *step) { s.listTimeline(in) }

func (s *step) listTimeline(in ListTimeline) {
	page, err := timelinePage(&s.log, s.context.TrimPoints(), in.Cursor, in.Limit)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, page)
}

// How many entries a page has where the client does not say, and at most.
const (
	timelineLimit = 100
	timelineMost  = 1000
)

// timelinePage is the page before the cursor, or the newest one. What it costs grows with
// the page, and with the number of trim points, not with the thread.
func timelinePage(l *log, points []history.TrimPoint, cursor *string, limit *uint32) (page protocol.ThreadTimelineListResponse, err *protocol.Error) {
	t := newTimeline(l, points)
	end := len(l.transcript.Events()) + len(t.marks)
	if cursor != nil {
		at, found := t.find(*cursor)
		if !found {
			return page, errCursor("thread timeline cursor", *cursor)
		}
		end = at
	}
	size := timelineLimit
	if limit != nil {
		size = int(min(max(*limit, 1), timelineMost))
	}
	begin := max(end-size, 0)
	page.Data = make([]protocol.ThreadTimelineEntry, 0, end-begin)
	for i := begin; i < end; i++ {
		page.Data = append(page.Data, t.entry(i))
	}
	if begin > 0 {
		page.NextCursor = new(t.cursor(begin))
	}
	return page, nil
}

// timeline is the moments of a thread with the marks of its trim points among them. Its
// entries are numbered from the oldest on, and made when they are asked for.
type timeline struct {
	*log
	marks  []mark
	latest *history.TrimPoint // nil without trim points
}

// mark is an entry that a trim point has in the timeline.
type mark struct {
	index int // the number of the entry
	rank  timelineRank
	point *history.TrimPoint
}

// timelineRank orders the entries at one position. Cursors hold ranks.
type timelineRank int

const (
	rankSummary timelineRank = iota
	rankTrimPoint
	rankTurnStarted
	rankItem
	rankTurnCompleted
)

// newTimeline takes trim points in the order in which they were made. At one position
// that is their order, too; otherwise a later one may be before an earlier one.
func newTimeline(l *log, points []history.TrimPoint) *timeline {
	t := &timeline{log: l}
	if len(points) > 0 {
		t.latest = &points[len(points)-1]
	}
	placed := make([]*history.TrimPoint, len(points))
	for i := range points {
		placed[i] = &points[i]
	}
	slices.SortStableFunc(placed, func(a, b *history.TrimPoint) int { return cmp.Compare(a.Position, b.Position) })
	for _, p := range placed {
		before := l.transcript.EventFrom(p.Position)
		if p.Summary != nil {
			t.marks = append(t.marks, mark{before + len(t.marks), rankSummary, p})
		}
		t.marks = append(t.marks, mark{before + len(t.marks), rankTrimPoint, p})
	}
	return t
}

// find is the number of the entry that a cursor names, and false where it is not of this
// thread. In place of a trim point that was undone since it is the entry behind it: what
// is before that has not been listed yet.
func (t *timeline) find(cursor string) (index int, found bool) {
	c, ok := readCursor[timelineCursor](cursor)
	switch {
	case !ok || c.Thread != t.id:
		return 0, false
	case c.Rank <= rankTrimPoint:
		return t.findMark(c), true
	}
	for i := t.transcript.EventFrom(c.Position); i < len(t.transcript.Events()) && t.transcript.Events()[i].Position == c.Position; i++ {
		if index := t.indexOf(i); t.cursor(index) == cursor {
			return index, true
		}
	}
	return 0, false
}

// findMark looks for a trim point by its id: what comes after it can move it behind other
// lines. Where only its summary is gone, its divider stands for that.
func (t *timeline) findMark(c timelineCursor) int {
	for _, m := range t.marks {
		if m.point.ID == c.ID && m.rank >= c.Rank {
			return m.index
		}
	}
	return t.indexOf(t.transcript.EventFrom(c.Position))
}

// indexOf is the number of a moment, or of the end. All marks at its place are before it.
func (t *timeline) indexOf(moment int) int {
	return moment + sort.Search(len(t.marks), func(k int) bool { return t.marks[k].index-k > moment })
}

// at is a mark, or a moment where the mark is nil.
func (t *timeline) at(index int) (*mark, transcript.Event) {
	k, found := slices.BinarySearchFunc(t.marks, index, func(m mark, index int) int { return cmp.Compare(m.index, index) })
	if found {
		return &t.marks[k], transcript.Event{}
	}
	return nil, t.transcript.Events()[index-k]
}

// entry is the entry with a number.
func (t *timeline) entry(index int) protocol.ThreadTimelineEntry {
	m, at := t.at(index)
	if m != nil {
		return protocol.ThreadTimelineEntry{ThreadTimelineEntryVariant: t.markEntry(m)}
	}
	return protocol.ThreadTimelineEntry{ThreadTimelineEntryVariant: t.momentEntry(at)}
}

func (t *timeline) markEntry(m *mark) protocol.ThreadTimelineEntryVariant {
	p, trimmed := m.point, m.point != t.latest
	if m.rank == rankSummary {
		return &protocol.TimelineSummary{Position: p.Position, TrimPointID: p.ID, Text: *p.Summary, Trimmed: trimmed}
	}
	return &protocol.TimelineTrimPoint{
		Position: p.Position, TrimPoint: p.TrimPoint, HiddenMessageCount: t.transcript.MessagesBefore(p.Position),
		Label: trimLabel(p.PrunedMessageCount), Trimmed: trimmed,
	}
}

func trimLabel(pruned int) string {
	if pruned == 0 {
		return "Earlier messages: none pruned"
	}
	return fmt.Sprintf("Earlier messages: %d pruned", pruned)
}

func (t *timeline) momentEntry(m transcript.Event) protocol.ThreadTimelineEntryVariant {
	r, trimmed := t.transcript.Turn(int(m.Turn)), t.latest != nil && m.Position < t.latest.Position
	switch m.Item {
	case transcript.TurnBegan:
		return &protocol.TimelineTurnStarted{Position: m.Position, TurnID: r.ID, StartedAt: r.StartedAt, Trimmed: trimmed}
	case transcript.TurnEnded:
		return &protocol.TimelineTurnCompleted{
			Position: m.Position, TurnID: r.ID, Status: r.Status, Error: r.Err,
			StartedAt: r.StartedAt, CompletedAt: r.CompletedAt, DurationMs: r.DurationMs, Trimmed: trimmed,
		}
	}
	return &protocol.TimelineItem{Position: m.Position, TurnID: r.ID, Item: r.Item(int(m.Item)).ThreadItem(), Trimmed: trimmed}
}

// timelineCursor names an entry by its place in the rollout, so that it is found whatever
// was added since.
type timelineCursor struct {
	Thread   string       `json:"t"`
	Position int64        `json:"p"`
	Rank     timelineRank `json:"r"`
	ID       string       `json:"i"`
}

// cursor names the entry with a number.
func (t *timeline) cursor(index int) string {
	c := timelineCursor{Thread: t.id}
	if m, at := t.at(index); m != nil {
		c.Position, c.Rank, c.ID = m.point.Position, m.rank, m.point.ID
	} else {
		c.Position = at.Position
		c.Rank, c.ID = t.nameOf(at)
	}
	return cursorText(c)
}

func (t *timeline) nameOf(m transcript.Event) (rank timelineRank, id string) {
	r := t.transcript.Turn(int(m.Turn))
	switch m.Item {
	case transcript.TurnBegan:
		return rankTurnStarted, r.ID
	case transcript.TurnEnded:
		return rankTurnCompleted, r.ID
	}
	return rankItem, r.Item(int(m.Item)).ID()
}
