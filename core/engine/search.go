package engine

import (
	"strings"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

// ThreadSearch searches the texts of stored threads.
func (e *Engine) ThreadSearch(to protocol.Caller, p *protocol.ThreadSearchParams) error {
	if strings.TrimSpace(p.SearchTerm) == "" {
		return protocol.InvalidParams("searchTerm", "thread/search requires a non-empty searchTerm")
	}
	q := paged(p.Limit, p.Cursor, p.SortDirection)
	q.Search, q.Archived, q.SortKey = p.SearchTerm, p.Archived != nil && *p.Archived,
		sortKeyOf(p.SortKey, rollout.SortRelevance)
	selectSources(&q, p.SourceKinds)
	return e.Background(to, func() (any, error) { return e.search(to, q) })
}

// ThreadSearchOccurrences returns the occurrences of a text in a thread, loaded or not.
func (e *Engine) ThreadSearchOccurrences(to protocol.Caller, p *protocol.ThreadSearchOccurrencesParams) error {
	if strings.TrimSpace(p.SearchTerm) == "" {
		return protocol.InvalidParams("searchTerm", "thread/searchOccurrences requires a non-empty searchTerm")
	}
	return e.readTurns(to, p.ThreadID,
		core.SearchOccurrences{To: to, Term: p.SearchTerm, Cursor: p.Cursor, Limit: p.Limit})
}

func (e *Engine) search(to protocol.Caller, q rollout.Query) (any, error) {
	if q.Archived {
		e.tidied.Do(e.tidy)
	}
	e.watchIndex(to.Conn)
	ctx, cancel := e.untilClosed()
	defer cancel()
	found, err := e.parts.Threads.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	answer := protocol.ThreadSearchResponse{
		Data:       make([]protocol.ThreadSearchResult, 0, len(found.Hits)),
		NextCursor: cursor(found.NextCursor), BackwardsCursor: cursor(found.BackCursor), Complete: found.Complete,
	}
	for _, h := range found.Hits {
		answer.Data = append(answer.Data,
			protocol.ThreadSearchResult{Thread: e.listed(h.Head), Snippet: h.Snippet})
	}
	return answer, nil
}

// watchIndex sends the progress of the index to a connection from now on.
func (e *Engine) watchIndex(conn uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.hasDisconnected(conn) {
		e.watchers[conn] = true
	}
}

// IndexProgress notifies the clients that list or search of the progress of the index.
func (e *Engine) IndexProgress(done, total int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for conn := range e.watchers {
		e.parts.Outbox.Notify(conn, protocol.ThreadIndexProgressNotification{Done: done, Total: total})
	}
}
