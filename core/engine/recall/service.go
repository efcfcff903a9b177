package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/effects/memory"
	"appserver/core/effects/workspace"
	"appserver/core/engine"
	"appserver/protocol"
)

const (
	// summaryTime limits the model requests for one edit.
	summaryTime = time.Minute
	// modelSpans limits the number of model requests for one edit. Other spans are summarized
	// without a model.
	modelSpans = 8
	// keepTime limits the write of summaries during shutdown.
	keepTime = time.Second
)

// Service implements the ports of engine.Memory.
type Service struct {
	Store  *memory.Store
	Models Streamer
	// Warn receives warnings for users.
	Warn func(message string)
	// Ended is called after the last request. It may be nil.
	Ended func()
	// Code indexes the files of repositories. It is nil if that is disabled.
	Code Files
}

// Files indexes the files of repositories. It has four methods, because the service stops the indexing before it
// closes the store that the index writes to.
type Files interface {
	// Open starts to index a repository that is not open. It does not wait.
	Open(repo string)
	// Pause pauses or resumes indexing. It returns false if the repository is not open.
	Pause(repo string, paused bool) bool
	// Status returns the progress of each repository.
	Status() []protocol.MemoryCodeIndex
	// Close stops all indexing.
	Close()
}

// Key returns the root of the repository of a directory.
func (k *Service) Key(dir string) string { return workspace.RepositoryKey(dir) }

// Remember stores a summary of each span, unless the store has one with the same items.
func (k *Service) Remember(
	ctx context.Context,
	thread string,
	e core.Remember,
	redact func(string) string,
) core.Remembered {
	done := core.Remembered{Effect: e.ID, Repo: k.Key(e.Cwd)}
	spans := spansFor(e)
	var ids []string
	for _, span := range spans {
		ids = append(ids, span.IDs...)
	}
	known, _ := k.Store.Summarized(ctx, thread, ids) // after a failure, a second summary is better than none
	var rows []memory.Row
	limited, cancel := context.WithTimeout(ctx, summaryTime)
	defer cancel()
	for i, span := range spans {
		if coveredBy(known, span.IDs) {
			continue
		}
		s := k.summarize(limited, e, span, i)
		if s.text == "" {
			continue
		}
		rows = append(
			rows,
			memory.Row{RepoKey: done.Repo, SessionID: thread, TS: time.Now().UnixMilli(), Kind: memory.Summary,
				Title: redact(s.title), Text: redact(s.text), MsgIDs: span.IDs},
		)
	}
	if len(rows) == 0 {
		return done
	}
	writing, stop := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer stop()
	if done.Err = k.Store.Append(writing, rows); done.Err == nil {
		done.Stored = len(rows)
	}
	return done
}

// summarize returns a summary by a model, or without one if the model fails.
func (k *Service) summarize(ctx context.Context, e core.Remember, span core.Span, n int) summary {
	if e.ByModel && n < modelSpans && ctx.Err() == nil {
		s, err := k.askModel(ctx, e, span)
		if err == nil {
			return s
		}
		k.Warn(
			fmt.Sprintf(
				"The model did not summarize the items that left the context: %v. The stored summary was made without a model.",
				err,
			),
		)
	}
	return extracted(span)
}

// spansFor returns the spans to summarize. For a model, it merges small neighbouring spans, because
// each span costs a request.
func spansFor(e core.Remember) []core.Span {
	if !e.ByModel {
		return e.Spans
	}
	var spans []core.Span
	size := 0
	for _, span := range e.Spans {
		span.Items = withRequest(span)
		n := sizeOf(span)
		if len(spans) == 0 || size+n > transcriptLimit {
			spans, size = append(spans, core.Span{TurnID: span.TurnID, Request: span.Request}), 0
		}
		last := &spans[len(spans)-1]
		last.IDs, last.Items = append(last.IDs, span.IDs...), append(last.Items, span.Items...)
		size += n
	}
	return spans
}

// withRequest returns the items of a span with the user's request in front. The request is not among
// the items if it stayed in the context.
func withRequest(span core.Span) []protocol.ResponseItem {
	if span.Request == "" {
		return span.Items
	}
	for _, item := range span.Items {
		m, ok := item.ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleUser && len(m.Content) > 0 &&
			strings.HasPrefix(m.Content[0].Text, span.Request) {
			return span.Items
		}
	}
	request := protocol.ResponseItem{ResponseItemVariant: &protocol.Message{Role: protocol.RoleUser,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: span.Request}}}}
	return append([]protocol.ResponseItem{request}, span.Items...)
}

func sizeOf(span core.Span) (size int) {
	for _, item := range span.Items {
		raw, err := protocol.Marshal(item)
		if err == nil {
			size += len(raw)
		}
	}
	return size
}

func coveredBy(known map[string]bool, ids []string) bool {
	for _, id := range ids {
		if !known[id] {
			return false
		}
	}
	return true
}

const (
	// minMatch is the share of the query's words that a reminder must contain. Rare words have
	// more weight. minSimilarity is the alternative for vectors.
	minMatch, minSimilarity = 0.35, 0.5
)

// Recall returns memories, the best match first. Reminders, which the model did not request, need a
// good match.
func (k *Service) Recall(ctx context.Context, e core.Recall) core.Recalled {
	found := core.Recalled{Effect: e.ID, Repo: k.Key(e.Cwd)}
	k.openCode(found.Repo)
	q := memory.Query{RepoKey: found.Repo, Text: e.Query, Limit: e.Limit}
	if e.Unasked {
		q.Kinds = []string{memory.Summary}
		q.Exclude = func(h memory.Hit) bool { return h.Match < minMatch && h.Similarity < minSimilarity }
	}
	hits, err := k.Store.Search(ctx, q)
	found.Err = err
	for _, h := range hits {
		found.Found = append(found.Found, core.Memory{ID: h.ID, Kind: h.Kind, Title: h.Title, Text: h.Text,
			Session: h.SessionID, Items: h.MsgIDs, At: time.UnixMilli(h.TS)})
	}
	return found
}

func (k *Service) openCode(repo string) {
	if k.Code != nil {
		k.Code.Open(repo)
	}
}

// Search returns memories and source files, the best match first.
func (k *Service) Search(ctx context.Context, q engine.MemoryQuery) (protocol.MemorySearchResponse, error) {
	k.openCode(q.Repo)
	answer := protocol.MemorySearchResponse{Data: []protocol.MemoryHit{}}
	hits, err := k.Store.Search(ctx, memory.Query{RepoKey: q.Repo, Text: q.Text, Kinds: q.Kinds, Limit: q.Limit})
	for _, h := range hits {
		answer.Data = append(answer.Data, protocol.MemoryHit{MemoryView: view(h), Score: h.Score})
		answer.Semantic = answer.Semantic || h.Similarity != 0
	}
	return answer, err
}

func view(h memory.Hit) protocol.MemoryView {
	ids := h.MsgIDs
	if ids == nil {
		ids = []string{}
	}
	return protocol.MemoryView{
		ID:        h.ID,
		RepoKey:   h.RepoKey,
		Kind:      h.Kind,
		SessionID: h.SessionID,
		CreatedAt: h.TS,
		Title:     h.Title,
		Text:      h.Text,
		ItemIDs:   ids,
	}
}

// List returns a page of summaries, the newest first.
func (k *Service) List(ctx context.Context, p *protocol.MemoryListParams) (protocol.MemoryListResponse, error) {
	f := memory.Filter{
		Kind:      memory.Summary,
		RepoKey:   value(p.RepoKey),
		SessionID: value(p.SessionID),
		Cursor:    value(p.Cursor),
	}
	if p.Limit != nil {
		f.Limit = int(*p.Limit)
	}
	page := protocol.MemoryListResponse{Data: []protocol.MemoryView{}}
	rows, next, err := k.Store.List(ctx, f)
	var cursor *memory.CursorError
	if errors.As(err, &cursor) {
		return page, protocol.InvalidParams("cursor", "%v", cursor)
	}
	for _, r := range rows {
		page.Data = append(page.Data, view(r))
	}
	if next != "" {
		page.NextCursor = &next
	}
	return page, err
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Forget deletes the memories with these ids, or all, of one repository unless repo is empty. It
// returns their number.
func (k *Service) Forget(ctx context.Context, ids []string, all bool, repo string) (int, error) {
	return k.Store.Forget(ctx, memory.Selection{IDs: ids, All: all, RepoKey: repo})
}

// Reset deletes all memories.
func (k *Service) Reset(ctx context.Context) error { return k.Store.Reset(ctx) }

// Status returns the size and the state of the memory.
func (k *Service) Status(ctx context.Context) (protocol.MemoryStatusResponse, error) {
	st, err := k.Store.Status(ctx)
	answer := protocol.MemoryStatusResponse{
		Summaries: int(st.Rows[memory.Summary]), Code: int(st.Rows[memory.Code]), Bytes: st.Bytes + st.IndexBytes,
		Repositories: int(st.Repositories), V2ConsolidatedThreads: int(st.Sessions),
	}
	if st.Error != "" {
		answer.Error = &st.Error
	}
	if st.Model != "" {
		answer.Embeddings = &protocol.MemoryEmbeddings{
			Model:     st.Model,
			Dimension: st.Dimension,
			Embedded:  int(st.Embedded),
			Pending:   max(answer.Summaries+answer.Code-int(st.Embedded), 0),
		}
	}
	answer.Indexes = []protocol.MemoryCodeIndex{}
	if k.Code != nil {
		answer.Indexes = k.Code.Status()
	}
	return answer, err
}

// Pause pauses or resumes the indexing of a repository. It returns false if the repository is not
// open.
func (k *Service) Pause(repo string, paused bool) bool {
	return k.Code != nil && k.Code.Pause(repo, paused)
}

// Close stops indexing and closes the store.
func (k *Service) Close() error {
	if k.Code != nil {
		k.Code.Close()
	}
	err := k.Store.Close()
	if k.Ended != nil {
		k.Ended()
	}
	return err
}
