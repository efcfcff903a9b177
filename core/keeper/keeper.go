package keeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/engine"
	"appserver/core/memory"
	"appserver/core/workspace"
	"appserver/protocol"
)

const (
	// summaryTime is how long models may take for the summaries of one edit.
	summaryTime = time.Minute
	// modelSpans is how many requests to a model one edit is worth; what is more is summarised
	// without one.
	modelSpans = 8
	// keepTime is how long writing may go on once the server ends.
	keepTime = time.Second
)

// Keeper is the memory of an engine.
type Keeper struct {
	Store  *memory.Store
	Models Streamer
	// Warn is told what users should know of.
	Warn func(message string)
	// Ended is called once nothing is asked for any more; nil is not.
	Ended func()
	// Code reads the files of repositories; nil where they are not known.
	Code Files
}

// Files reads the files of repositories.
type Files interface {
	// Open begins to read a repository, unless that is done. It does not wait.
	Open(repo string)
	// Pause has it be read no more, or again; false where it is not.
	Pause(repo string, paused bool) bool
	// Status tells how far each repository is known.
	Status() []protocol.MemoryCodeIndex
	Close()
}

// Key is the root of the repository of a directory.
func (k *Keeper) Key(dir string) string { return workspace.RepositoryKey(dir) }

// Remember keeps a summary for each turn that something has left the context of, unless there
// is one of the same already.
func (k *Keeper) Remember(ctx context.Context, thread string, e core.Remember, redact func(string) string) core.Remembered {
	done := core.Remembered{Effect: e.ID, Repo: k.Key(e.Cwd)}
	spans := spansFor(e)
	var ids []string
	for _, span := range spans {
		ids = append(ids, span.IDs...)
	}
	known, _ := k.Store.Summarized(ctx, thread, ids) // where it fails: twice is better than never
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
		rows = append(rows, memory.Row{RepoKey: done.Repo, SessionID: thread, TS: time.Now().UnixMilli(), Kind: memory.Summary,
			Title: redact(s.title), Text: redact(s.text), MsgIDs: span.IDs})
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

// summarize never fails: where the model does, there is a summary without it.
func (k *Keeper) summarize(ctx context.Context, e core.Remember, span core.Span, n int) summary {
	if e.ByModel && n < modelSpans && ctx.Err() == nil {
		s, err := k.askModel(ctx, e, span)
		if err == nil {
			return s
		}
		k.Warn(fmt.Sprintf("The model could not summarise what left the context (%v): a summary is made without it.", err))
	}
	return extracted(span)
}

// spansFor are the spans to summarise: for a model, which costs a request each, neighbours are
// put together while they are small.
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

// withRequest are the items of a span behind the request that they answer. That may have stayed
// in the context, and so be none of them.
func withRequest(span core.Span) []protocol.ResponseItem {
	if span.Request == "" {
		return span.Items
	}
	for _, item := range span.Items {
		m, ok := item.ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleUser && len(m.Content) > 0 && strings.HasPrefix(m.Content[0].Text, span.Request) {
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
	// leastMatch is which part of the question's words a memory has that the model is reminded
	// of unasked, rare words counting more; leastSimilarity does for vectors instead.
	leastMatch, leastSimilarity = 0.35, 0.5
)

// Recall finds what fits best first; what the model has not asked for has to fit well.
func (k *Keeper) Recall(ctx context.Context, e core.Recall) core.Recalled {
	found := core.Recalled{Effect: e.ID, Repo: k.Key(e.Cwd)}
	k.opened(found.Repo)
	q := memory.Query{RepoKey: found.Repo, Text: e.Query, Limit: e.Limit}
	if e.Unasked {
		q.Kinds = []string{memory.Summary}
		q.Exclude = func(h memory.Hit) bool { return h.Match < leastMatch && h.Similarity < leastSimilarity }
	}
	hits, err := k.Store.Search(ctx, q)
	found.Err = err
	for _, h := range hits {
		found.Found = append(found.Found, core.Memory{ID: h.ID, Kind: h.Kind, Title: h.Title, Text: h.Text,
			Session: h.SessionID, Items: h.MsgIDs, At: time.UnixMilli(h.TS)})
	}
	return found
}

func (k *Keeper) opened(repo string) {
	if k.Code != nil {
		k.Code.Open(repo)
	}
}

// Search finds what fits best first.
func (k *Keeper) Search(ctx context.Context, q engine.MemoryQuery) (protocol.MemorySearchResponse, error) {
	k.opened(q.Repo)
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
	return protocol.MemoryView{ID: h.ID, RepoKey: h.RepoKey, Kind: h.Kind, SessionID: h.SessionID, CreatedAt: h.TS, Title: h.Title, Text: h.Text, ItemIDs: ids}
}

// List lists summaries, the newest first.
func (k *Keeper) List(ctx context.Context, p *protocol.MemoryListParams) (protocol.MemoryListResponse, error) {
	f := memory.Filter{Kind: memory.Summary, RepoKey: value(p.RepoKey), SessionID: value(p.SessionID), Cursor: value(p.Cursor)}
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

// Forget forgets what is named.
func (k *Keeper) Forget(ctx context.Context, ids []string, all bool, repo string) (int, error) {
	return k.Store.Forget(ctx, memory.Selection{IDs: ids, All: all, RepoKey: repo})
}

// Reset forgets everything.
func (k *Keeper) Reset(ctx context.Context) error { return k.Store.Reset(ctx) }

// Status counts what is kept.
func (k *Keeper) Status(ctx context.Context) (protocol.MemoryStatusResponse, error) {
	st, err := k.Store.Status(ctx)
	answer := protocol.MemoryStatusResponse{
		Summaries: int(st.Rows[memory.Summary]), Code: int(st.Rows[memory.Code]), Bytes: st.Bytes + st.IndexBytes,
		Repositories: int(st.Repositories), V2ConsolidatedThreads: int(st.Sessions),
	}
	if st.Error != "" {
		answer.Error = &st.Error
	}
	if st.Model != "" {
		answer.Embeddings = &protocol.MemoryEmbeddings{Model: st.Model, Dimension: st.Dimension, Embedded: int(st.Embedded),
			Pending: max(answer.Summaries+answer.Code-int(st.Embedded), 0)}
	}
	answer.Indexes = []protocol.MemoryCodeIndex{}
	if k.Code != nil {
		answer.Indexes = k.Code.Status()
	}
	return answer, err
}

// Pause has the files of a repository be read no more, or again.
func (k *Keeper) Pause(repo string, paused bool) bool {
	return k.Code != nil && k.Code.Pause(repo, paused)
}

// Close ends what goes on in the background.
func (k *Keeper) Close() error {
	if k.Code != nil {
		k.Code.Close()
	}
	err := k.Store.Close()
	if k.Ended != nil {
		k.Ended()
	}
	return err
}
