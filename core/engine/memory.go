package engine

import (
	"context"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// maxMemories limits a page of memories and the results of a search. defaultMemories is the default
// for searches.
const maxMemories, defaultMemories = 100, 10

// MemorySearch searches the memory.
func (e *Engine) MemorySearch(to protocol.Caller, p *protocol.MemorySearchParams) error {
	kinds := []string{protocol.MemorySummary, protocol.MemoryCode}
	for _, kind := range p.Kinds {
		if !slices.Contains(kinds, kind) {
			return protocol.InvalidParams("kinds", "unknown kind %q: there are %s", kind, strings.Join(kinds, " and "))
		}
	}
	if strings.TrimSpace(p.Query) == "" {
		return protocol.InvalidParams("query", "`query` must not be empty")
	}
	q := MemoryQuery{Text: p.Query, Kinds: p.Kinds, Limit: defaultMemories}
	if p.Limit != nil && *p.Limit > 0 {
		q.Limit = int(min(*p.Limit, maxMemories))
	}
	dir, err := e.memoryDir(p.RepoKey)
	if err != nil {
		return err
	}
	return e.withMemory(to, func(ctx context.Context, m *Memory) (any, error) {
		q.Repo = m.Key(dir)
		return m.Search(ctx, q)
	})
}

// MemoryList lists memories.
func (e *Engine) MemoryList(to protocol.Caller, p *protocol.MemoryListParams) error {
	list := *p
	if p.RepoKey != nil {
		if _, err := e.memoryDir(p.RepoKey); err != nil {
			return err
		}
	}
	limit := uint32(maxMemories)
	if p.Limit != nil && *p.Limit > 0 {
		limit = min(*p.Limit, limit)
	}
	list.Limit = &limit
	return e.withMemory(to, func(ctx context.Context, m *Memory) (any, error) {
		if p.RepoKey != nil {
			key := m.Key(*p.RepoKey)
			list.RepoKey = &key
		}
		return m.List(ctx, &list)
	})
}

// MemoryForget deletes memories.
func (e *Engine) MemoryForget(to protocol.Caller, p *protocol.MemoryForgetParams) error {
	if p.All == (len(p.Ids) > 0) {
		return protocol.InvalidParams("ids", "set either `ids` or `all`")
	}
	if p.RepoKey != nil {
		if _, err := e.memoryDir(p.RepoKey); err != nil {
			return err
		}
	}
	return e.withMemory(to, func(ctx context.Context, m *Memory) (any, error) {
		repo := ""
		if p.RepoKey != nil {
			repo = m.Key(*p.RepoKey)
		}
		n, err := m.Forget(ctx, p.Ids, p.All, repo)
		return protocol.MemoryForgetResponse{Forgotten: n}, err
	})
}

// MemoryReset deletes all memories.
func (e *Engine) MemoryReset(to protocol.Caller, _ *protocol.MemoryResetParams) error {
	return e.withMemory(to, func(ctx context.Context, m *Memory) (any, error) { return protocol.Empty{}, m.Reset(ctx) })
}

// MemoryIndexPause pauses or resumes the indexing of a repository.
func (e *Engine) MemoryIndexPause(to protocol.Caller, p *protocol.MemoryIndexPauseParams) error {
	dir, err := e.memoryDir(p.RepoKey)
	if err != nil {
		return err
	}
	return e.withMemory(to, func(_ context.Context, m *Memory) (any, error) {
		return protocol.MemoryIndexPauseResponse{Found: m.Pause(m.Key(dir), p.Paused)}, nil
	})
}

// MemoryStatus returns the state of the memory.
func (e *Engine) MemoryStatus(to protocol.Caller, _ *protocol.MemoryStatusParams) error {
	return e.withMemory(to, func(ctx context.Context, m *Memory) (any, error) {
		status, err := m.Status(ctx)
		rules := e.memoryRules(e.parts.Config.Current())
		status.Summarizes, status.Reminds = rules.Summarize, rules.Items > 0
		status.V2Ready = err == nil
		return status, err
	})
}

func (e *Engine) withMemory(to protocol.Caller, do func(context.Context, *Memory) (any, error)) error {
	if e.parts.Memory == nil {
		return protocol.Refuse(protocol.KindMemoryUnavailable, "this server has no memory")
	}
	return e.Background(to, func() (any, error) {
		ctx, cancel := e.untilClosed()
		defer cancel()
		return do(ctx, e.parts.Memory)
	})
}

func (e *Engine) memoryRules(scope *Scope) core.MemoryRules {
	if e.parts.Memory == nil {
		return core.MemoryRules{}
	}
	return scope.Memory
}

// memoryDir returns the directory that a client names, or that of the server.
func (e *Engine) memoryDir(named *string) (string, error) {
	if named == nil {
		return workspace.Current()
	}
	if !workspace.IsAbs(*named) {
		return "", protocol.InvalidParams("repoKey", "`repoKey` must be an absolute path: %s", *named)
	}
	return *named, nil
}
