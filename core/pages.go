package core

import (
	"appserver/core/pure/view"
	"appserver/protocol"
)

// ListTurns requests a page of the turns.
type ListTurns struct {
	To        protocol.Caller
	Cursor    *string
	Limit     *uint32
	Ascending bool
	ItemsView string // "" is protocol.ItemsSummary
}

// ListItems requests a page of the completed items, of one turn if Turn is not nil.
type ListItems struct {
	To         protocol.Caller
	Turn       *string
	Cursor     *protocol.ThreadItemCursor
	Limit      *uint32
	Descending bool
}

// ListTimeline requests a page of the timeline.
type ListTimeline struct {
	To    protocol.Caller
	Query view.TimelineQuery
}

// ListTimelineOf returns the input for a request, without its caller.
func ListTimelineOf(p *protocol.ThreadTimelineListParams) ListTimeline {
	return ListTimeline{Query: view.TimelineQuery{
		Cursor: p.Cursor, From: p.From, Around: p.Around, Turn: p.TurnID, Limit: p.Limit, TextLimit: p.TextLimit,
		IncludeTotal: p.IncludeTotal != nil && *p.IncludeTotal,
	}}
}

// ReadItem requests one item in full. Without a turn, it is the last item with the id.
type ReadItem struct {
	To   protocol.Caller
	Turn *string
	ID   string
}

// ListUsage requests a page of the model requests, newest first.
type ListUsage struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
	// Prices are those of the thread's configuration. Nil leaves out what depends on prices.
	Prices view.Prices
}

// SearchOccurrences requests a page of the occurrences of a term in messages.
type SearchOccurrences struct {
	To     protocol.Caller
	Term   string
	Cursor *string
	Limit  *uint32
}

func (in ListTurns) apply(s *step) {
	page, err := s.lists().TurnsPage(in.query())
	s.replyPage(in.To, page, err)
}

func (in ListItems) apply(s *step) {
	page, err := s.lists().ItemsPage(view.ItemsQuery{
		Turn: in.Turn, Cursor: in.Cursor, Limit: in.Limit, Descending: in.Descending,
	})
	s.replyPage(in.To, page, err)
}

func (in ListTimeline) apply(s *step) {
	page, err := s.lists().TimelinePage(s.context.TrimPoints(), in.Query)
	s.replyPage(in.To, page, err)
}

func (in ReadItem) apply(s *step) {
	item, err := s.lists().ReadItem(in.Turn, in.ID)
	s.replyPage(in.To, item, err)
}

func (in ListUsage) apply(s *step) {
	page, err := view.UsagePage(s.state, in.Prices, in.Cursor, in.Limit)
	s.replyPage(in.To, page, err)
}

func (in SearchOccurrences) apply(s *step) {
	page, err := s.lists().OccurrencesPage(view.OccurrencesQuery{Term: in.Term, Cursor: in.Cursor, Limit: in.Limit})
	s.replyPage(in.To, page, err)
}

func (in ListTurns) query() view.TurnsQuery {
	return view.TurnsQuery{Cursor: in.Cursor, Limit: in.Limit, Ascending: in.Ascending, ItemsView: in.ItemsView}
}

// replyPage sends a page, or its error.
func (s *step) replyPage(to protocol.Caller, page any, err *protocol.Error) {
	if err != nil {
		s.reject(to, err)
		return
	}
	s.reply(to, page)
}

// lists returns the thread's lists. They are valid until the next line is applied.
func (t *Thread) lists() *view.Thread {
	v := &view.Thread{ID: t.state.ID, Transcript: t.transcript, Active: t.openTurn()}
	v.OpenItems, v.InProgress = func() []protocol.ThreadItem { return nil }, t.itemsInProgress
	if !t.isIdle() {
		v.OpenItems = t.active.openItems
	}
	if t.announcedEnd != nil {
		v.Failed, v.Failure = t.announcedEnd.turnID, &t.announcedEnd.err
	}
	return v
}

// initialPage returns the page of turns that a resuming client requests, or nil.
func (t *Thread) initialPage(p *protocol.ThreadResumeInitialTurnsPageParams) *protocol.ThreadTurnsListResponse {
	if p == nil {
		return nil
	}
	in := ListTurnsOf(p.Limit, p.SortDirection, p.ItemsView)
	page, _ := t.lists().TurnsPage(in.query()) // without a cursor there is no error
	return &page
}

// ListTurnsOf returns the input for a page without a cursor.
func ListTurnsOf(limit *uint32, sortDirection, itemsView *string) ListTurns {
	in := ListTurns{Limit: limit, Ascending: sortDirection != nil && *sortDirection == "asc"}
	protocol.Override(&in.ItemsView, itemsView)
	return in
}
