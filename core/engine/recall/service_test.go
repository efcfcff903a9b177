package recall_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/memory"
	"appserver/core/engine"
	"appserver/core/engine/recall"
	"appserver/protocol"
)

// model replies to each prompt with its next answer; an empty answer is an error.
type model struct {
	answers []string
	asked   []*core.Prompt
}

func (m *model) Stream(_ context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	m.asked = append(m.asked, p)
	answer := m.answers[0]
	m.answers = m.answers[1:]
	if answer == "" {
		return core.Answer{}, errors.New("out of order")
	}
	emit(core.Piece{Kind: core.PieceReasoning, Text: "let me think"})
	emit(core.Piece{Text: answer})
	return core.Answer{}, nil
}

func message(role, text string) protocol.ResponseItem {
	return protocol.ResponseItem{
		ResponseItemVariant: &protocol.Message{
			Role:    role,
			Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}},
		},
	}
}

func span(turn, text string, ids ...string) core.Span {
	return core.Span{
		TurnID:  turn,
		Request: text,
		IDs:     ids,
		Items:   []protocol.ResponseItem{message(protocol.RoleUser, text)},
	}
}

// newService returns a service with a home of its own, and its warnings.
func newService(t *testing.T, m *model) (*recall.Service, *[]string) {
	t.Helper()
	warned := &[]string{}
	k := &recall.Service{
		Store:  memory.Open(memory.Options{Home: t.TempDir()}),
		Models: m,
		Warn:   func(w string) { *warned = append(*warned, w) },
	}
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k, warned
}

func plain(text string) string { return text }

func TestRememberStoresSummaryPerTurn(t *testing.T) {
	k, _ := newService(t, nil)
	dir := t.TempDir()
	e := core.Remember{
		Cwd: dir,
		Spans: []core.Span{
			span("t1", "The metrics are on port 9137.", "r1", "r2"),
			span("t2", "Never touch vendor.", "r5"),
		},
	}
	done := k.Remember(
		t.Context(),
		"thread",
		e,
		func(text string) string { return strings.ReplaceAll(text, "9137", "[REDACTED]") },
	)
	require.NoError(t, done.Err)
	require.Equal(t, 2, done.Stored)
	require.Equal(t, k.Key(dir), done.Repo)
	page, err := k.List(t.Context(), &protocol.MemoryListParams{})
	require.NoError(t, err)
	require.Len(t, page.Data, 2)
	for _, m := range page.Data {
		require.NotContains(t, m.Title+m.Text, "9137")
	}
	var refused *protocol.Error
	_, err = k.List(t.Context(), &protocol.MemoryListParams{Cursor: new("yesterday")})
	require.ErrorAs(t, err, &refused)
	require.Equal(t, protocol.KindInvalidParams, refused.Data.Kind)
	require.Zero(t, k.Remember(t.Context(), "thread", e, plain).Stored, "the store has these summaries")
	e.Spans[0].IDs = append(e.Spans[0].IDs, "r3")
	require.Equal(t, 1, k.Remember(t.Context(), "thread", e, plain).Stored)
	require.Equal(t, 2, k.Remember(t.Context(), "another", e, plain).Stored)

	found := k.Recall(t.Context(), core.Recall{Cwd: dir, Query: "may I change vendor?", Limit: 3, Unasked: true})
	require.NoError(t, found.Err)
	require.NotEmpty(t, found.Found)
	require.Contains(t, found.Found[0].Text, "vendor")
	require.Empty(
		t,
		k.Recall(
			t.Context(),
			core.Recall{
				Cwd:     dir,
				Query:   "what is the weather like in spring, with a touch of sun over green hills",
				Limit:   3,
				Unasked: true,
			},
		).Found,
		"the match is poor",
	)
	require.NotEmpty(
		t,
		k.Recall(
			t.Context(),
			core.Recall{
				Cwd:   dir,
				Query: "what is the weather like in spring, with a touch of sun over green hills",
				Limit: 3,
			},
		).Found,
		"a request of the model returns poor matches as well",
	)
	hits, err := k.Search(t.Context(), engine.MemoryQuery{Repo: k.Key(dir), Text: "vendor", Limit: 5})
	require.NoError(t, err)
	require.Equal(t, []string{"r5"}, hits.Data[0].ItemIDs)
	status, err := k.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int{5, 1, 2}, []int{status.Summaries, status.Repositories, status.V2ConsolidatedThreads})
	n, err := k.Forget(t.Context(), nil, true, k.Key(dir))
	require.NoError(t, err)
	require.Equal(t, 5, n)
	require.NoError(t, k.Reset(t.Context()))
}

// TestModelSummarizesNeighbouringSpans checks that small spans share a request.
func TestModelSummarizesNeighbouringSpans(t *testing.T) {
	m := &model{answers: []string{"- The port is 9137.", "", " "}}
	k, warned := newService(t, m)
	long := strings.Repeat("word ", 4000)
	e := core.Remember{Cwd: t.TempDir(), ByModel: true, Provider: "p", Model: "m", Spans: []core.Span{
		span(
			"t1",
			"one",
			"r1",
		), span("t2", "two", "r2"), span("t3", long+"three", "r3"), span("t4", long+"four", "r4")}}
	done := k.Remember(t.Context(), "thread", e, plain)
	require.NoError(t, done.Err)
	require.Equal(t, 2, len(m.asked))
	require.Equal(t, 2, done.Stored)
	require.Equal(t, "p m", m.asked[0].Provider+" "+m.asked[0].Model)
	require.True(t, m.asked[0].Summarises)
	page, err := k.List(t.Context(), &protocol.MemoryListParams{})
	require.NoError(t, err)
	texts := map[string]string{}
	for _, row := range page.Data {
		texts[strings.Join(row.ItemIDs, " ")] = row.Text
	}
	require.Equal(t, "- The port is 9137.", texts["r1 r2 r3"])
	require.Contains(t, texts["r4"], "word word", "extracted without the model")
	require.Len(t, *warned, 1)
	require.Contains(t, (*warned)[0], "out of order")
}

// TestModelInputContainsRequest has a request that stayed in the context, and one that left it.
func TestModelInputContainsRequest(t *testing.T) {
	m := &model{answers: []string{"- The port is 9137."}}
	k, _ := newService(t, m)
	stayed := core.Span{
		TurnID:  "t1",
		Request: "Which port?",
		IDs:     []string{"r1"},
		Items:   []protocol.ResponseItem{message(protocol.RoleAssistant, "It is 9137, as ever.")},
	}
	done := k.Remember(
		t.Context(),
		"thread",
		core.Remember{Cwd: t.TempDir(), ByModel: true, Spans: []core.Span{stayed, span("t2", "Close it.", "r2")}},
		plain,
	)
	require.NoError(t, done.Err)
	require.Len(t, m.asked, 1)
	require.Equal(t, "## User\nWhich port?\n\n## Assistant\nIt is 9137, as ever.\n\n## User\nClose it.",
		m.asked[0].Items[0].ResponseItemVariant.(*protocol.Message).Content[0].Text)
}

// TestRememberAfterCancel stores a summary without a model after the context is cancelled.
func TestRememberAfterCancel(t *testing.T) {
	m := &model{}
	k, _ := newService(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	done := k.Remember(
		ctx,
		"thread",
		core.Remember{Cwd: t.TempDir(), ByModel: true, Spans: []core.Span{span("t1", "The port is 9137.", "r1")}},
		plain,
	)
	require.NoError(t, done.Err)
	require.Equal(t, 1, done.Stored)
	require.Empty(t, m.asked)
}

// TestRememberReturnsWriteErrors has a home that is a file.
func TestRememberReturnsWriteErrors(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.WriteFile(home, nil, 0o600))
	k := &recall.Service{Store: memory.Open(memory.Options{Home: home}), Warn: func(string) {}}
	done := k.Remember(
		t.Context(),
		"thread",
		core.Remember{Cwd: t.TempDir(), Spans: []core.Span{span("t1", "The port is 9137.", "r1")}},
		plain,
	)
	require.Error(t, done.Err)
	require.Zero(t, done.Stored)
	require.NoError(t, k.Close())
}
