package engine

import (
	"runtime"
	"slices"
	"strings"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/protocol"
	"appserver/rollout"
)

const (
	defaultPage = 25
	largestPage = 100
)

// ThreadList lists stored threads.
func (e *Engine) ThreadList(to protocol.Caller, p *protocol.ThreadListParams) error {
	if err := checkFilters(p); err != nil {
		return err
	}
	if p.SectionID != nil || p.AttachedToThreadID != nil || p.Cwd != nil && len(p.Cwd) == 0 {
		e.parts.Outbox.Reply(to, protocol.ThreadListResponse{Data: []protocol.Thread{}})
		return nil
	}
	q := e.query(p)
	return e.goReader(to.Conn, func() {
		if q.Archived {
			e.tidied.Do(e.tidy)
		}
		var skipped []error
		e.answer(to, func() (answer any, err error) {
			answer, skipped, err = e.list(to, q)
			return answer, err
		})
		e.warnSkipped(to.Conn, skipped)
		e.afterList()
	})
}

// afterList starts work that no client waits for. It yields first, so that the answer is written before this work
// starts.
func (e *Engine) afterList() {
	runtime.Gosched()
	e.noteListed()
	e.tidied.Do(e.tidy)
	e.parts.Threads.Listed()
}

// tidy completes the work of killed writers. It runs with the first list, when a client waits for
// the folders and no turn waits for the disk. Archive moves are completed before the list, which
// would show them in part.
func (e *Engine) tidy() {
	if err := e.parts.Threads.Tidy(); err != nil {
		e.parts.Log.Warn("the work of killed writers could not be completed", zap.Error(err))
	}
}

// maxExcluded is the maximum number of ids that a list can exclude.
const maxExcluded = 100

// checkFilters rejects the same filters as the reference implementation.
func checkFilters(p *protocol.ThreadListParams) error {
	if len(p.Originators) > 0 {
		return protocol.InvalidParams("originators", "originator filtering is not supported by the local app-server")
	}
	if len(p.ExcludedThreadIDs) > maxExcluded {
		return protocol.InvalidParams("excludedThreadIds", "excludedThreadIds accepts at most %d entries", maxExcluded)
	}
	for _, id := range p.ExcludedThreadIDs {
		if checkID("", id) != nil {
			return protocol.InvalidParams("excludedThreadIds", "invalid excluded thread id: %s", id)
		}
	}
	return checkRelations(p)
}

// checkRelations rejects invalid ids of other threads, more than one of them, and filters for
// sections and projects.
func checkRelations(p *protocol.ThreadListParams) error {
	related := false
	for _, f := range []struct {
		field, words string
		id           *string
	}{
		{"parentThreadId", "parent thread id", p.ParentThreadID},
		{"ancestorThreadId", "ancestor thread id", p.AncestorThreadID},
		{"attachedToThreadId", "attached thread parent id", p.AttachedToThreadID},
	} {
		switch {
		case f.id == nil:
			continue
		case checkID("", *f.id) != nil:
			return protocol.InvalidParams(f.field, "invalid %s: %s", f.words, *f.id)
		case related:
			return protocol.InvalidParams(f.field,
				"parentThreadId, ancestorThreadId and attachedToThreadId are mutually exclusive")
		}
		related = true
	}
	switch {
	case p.IncludeAttachedThreads && (p.SearchTerm == nil || *p.SearchTerm == ""):
		return protocol.InvalidParams("includeAttachedThreads", "includeAttachedThreads requires a non-empty searchTerm")
	case p.ProjectID != nil:
		return protocol.InvalidParams("projectId", "project not found: %s", *p.ProjectID)
	}
	return nil
}

func (e *Engine) query(p *protocol.ThreadListParams) rollout.Query {
	q := paged(p.Limit, p.Cursor, p.SortDirection)
	q.Providers, q.Excluded, q.Cwds = []string{e.parts.Defaults.Settings().Provider}, p.ExcludedThreadIDs, p.Cwd
	if p.SearchTerm != nil {
		q.Search = *p.SearchTerm
	}
	q.Archived = p.Archived != nil && *p.Archived
	if p.ModelProviders != nil {
		q.Providers = *p.ModelProviders
	}
	if slices.Contains(q.Providers, e.parts.Defaults.Settings().Provider) {
		q.Providers = append(slices.Clip(q.Providers), "") // threads without a provider are shown with the default
	}
	q.Parent, q.Ancestor = textOrEmpty(p.ParentThreadID), textOrEmpty(p.AncestorThreadID)
	q.Unlisted = q.Parent != "" || q.Ancestor != "" // no user has written to most agents
	selectSources(&q, p.SourceKinds)
	if p.SortKey != nil && *p.SortKey == "section_position" { // there are no sections
		return q
	}
	q.SortKey = sortKeyOf(p.SortKey, rollout.SortCreated)
	return q
}

// paged returns a query for a page.
func paged(limit *uint32, cursor, direction *string) rollout.Query {
	q := rollout.Query{Limit: defaultPage, Ascending: direction != nil && *direction == "asc"}
	if limit != nil {
		q.Limit = int(max(1, min(*limit, largestPage)))
	}
	if cursor != nil {
		q.Cursor = *cursor
	}
	return q
}

// sortKeyOf returns the sort key for that of the protocol. recency_at sorts by the last write.
func sortKeyOf(key *string, otherwise rollout.SortKey) rollout.SortKey {
	switch {
	case key == nil:
		return otherwise
	case *key == "recency_at":
		return rollout.SortUpdated
	}
	return rollout.SortKey(*key)
}

// textOrEmpty returns the text, or "" for nil.
func textOrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// selectSources selects kinds of sources. Without kinds it selects the sources that people use, or
// all sources if a thread has spawned the threads.
func selectSources(q *rollout.Query, kinds *[]string) {
	if kinds == nil || len(*kinds) == 0 {
		if q.Parent != "" || q.Ancestor != "" {
			return
		}
		q.OtherSources = sources([]string{"exec", "appServer", "subAgent"})
		return
	}
	q.Sources = sources(*kinds)
}

// subAgents are the names of kinds of sub-agents in session_meta.
var subAgents = map[string]string{
	"subAgent": "", "subAgentReview": "/review", "subAgentCompact": "/compact",
	"subAgentThreadSpawn": "/thread_spawn", "subAgentOther": "/other",
}

// sources returns the names in session_meta for the protocol's kinds of sources.
func sources(kinds []string) []string {
	var words []string
	for _, kind := range kinds {
		switch {
		case kind == "appServer":
			words = append(words, "mcp", "app_server", kind)
		case kind == protocol.SourceVSCode:
			words = append(words, "", kind) // a missing source has this kind
		case strings.HasPrefix(kind, "subAgent"):
			for _, word := range []string{"subagent", "sub_agent", "subAgent"} {
				words = append(words, word+subAgents[kind])
			}
		default:
			words = append(words, kind)
		}
	}
	return words
}

// list returns a page and the errors of skipped files.
func (e *Engine) list(to protocol.Caller, q rollout.Query) (any, []error, error) {
	e.watchIndex(to.Conn)
	page, err := e.parts.Threads.List(q)
	if err != nil {
		return nil, nil, err
	}
	answer := protocol.ThreadListResponse{Data: make([]protocol.Thread, 0, len(page.Heads))}
	for _, h := range page.Heads {
		answer.Data = append(answer.Data, e.listed(h))
	}
	answer.NextCursor, answer.BackwardsCursor = cursor(page.NextCursor), cursor(page.BackCursor)
	return answer, page.Skipped, nil
}

// cursor returns the cursor, or nil if it is empty.
func cursor(c string) *string {
	if c == "" {
		return nil
	}
	return &c
}

// listed returns a thread of a list, from the head of its file.
func (e *Engine) listed(h rollout.Head) protocol.Thread {
	settings := core.Settings{Cwd: h.Meta.Cwd, Provider: h.Meta.ModelProvider}
	if h.Context != nil {
		settings.Model, settings.Effort = h.Context.Model, h.Context.Effort
	}
	if settings.Provider == "" {
		settings.Provider = e.parts.Defaults.Settings().Provider
	}
	a := e.find(h.ID)
	if a != nil && !a.ready.Load() {
		a = nil
	}
	if a != nil {
		if c := a.current.Load(); c != nil {
			settings, h.UpdatedAt = c.Settings(), c.Updated
		}
	}
	v := core.View(core.Summary{ID: h.ID, Meta: h.Meta, Settings: settings, Began: h.CreatedAt, Name: h.Name,
		Preview: h.Preview, Path: h.Path, Updated: h.UpdatedAt})
	active := protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusActive{ActiveFlags: []string{}}}
	switch {
	case a == nil && h.Running: // another node has it loaded
		v.Status = active
	case a != nil:
		v.Status, v.Environments = protocol.ThreadStatus{ThreadStatusVariant: &protocol.StatusIdle{}},
			core.Environments(settings)
		if id := a.turn.Load(); id != nil && *id != "" {
			v.Status = active
		}
	}
	return v
}
