package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/pure/compaction"
	"appserver/protocol"
)

// cutMachine is a thread whose provider reports usages. The rules compact at 90 % of the window.
type cutMachine struct {
	*machine
}

func newCutMachine(t *testing.T) *cutMachine {
	m := &cutMachine{machine: newMachine(t.Errorf)}
	m.options.Tokens = guess(4)
	m.world.Provider.ContextWindow = nil
	m.world.Compaction = compaction.Rules{Strategy: protocol.CompactLocal,
		Shares: compaction.Shares{Limit: 90, Target: 70}}
	m.take(m.start(protocol.HistoryPaginated))
	return m
}

// turn runs a turn with an input of some bytes and the reported usage. It returns the warnings, and the window of
// the usage that clients see.
func (m *cutMachine) turn(t *testing.T, size int, u protocol.TokenUsageBreakdown, window int64) (
	warned string, shown int64) {
	t.Helper()
	input := []protocol.UserInput{{UserInputVariant: &protocol.TextInput{
		Text: strings.Repeat("words ", size/6), TextElements: []protocol.TextElement{}}}}
	out := m.take(core.TurnStart{To: m.caller(), Env: m.world,
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: input}})
	var request core.EffectID
	for _, e := range out.Effects {
		if r, ok := e.(core.ModelRequest); ok {
			request = r.ID
		}
	}
	require.NotZero(t, request)

	out = m.take(core.ModelDone{Effect: request, Answer: core.Answer{Usage: &u, ContextWindow: window}})
	for _, message := range out.Messages {
		notice, _ := message.(core.Notice)
		switch n := notice.Notification.(type) {
		case protocol.WarningNotification:
			warned += n.Message
		case protocol.ThreadTokenUsageUpdatedNotification:
			if n.TokenUsage.ModelContextWindow != nil {
				shown = *n.TokenUsage.ModelContextWindow
			}
		}
	}
	return warned, shown
}

func inputOf(input int64) protocol.TokenUsageBreakdown {
	return protocol.TokenUsageBreakdown{InputTokens: input, TotalTokens: input}
}

// TestCutPrompts tells reports about prompts that the provider cut from others. A cut prompt changes no count, and the
// client gets a warning that names the setting.
func TestCutPrompts(t *testing.T) {
	cached := inputOf(3000)
	cached.CachedInputTokens = 2900
	for name, tt := range map[string]struct {
		grows  int // bytes
		report protocol.TokenUsageBreakdown
		cut    bool
	}{
		"the report grows as the request":   {8000, inputOf(6000), false},
		"the report shrinks":                {8000, inputOf(3000), true},
		"the report hardly grows":           {40_000, inputOf(4100), true},
		"a report that stays":               {400, inputOf(4000), false},
		"the prompt is in the cache":        {8000, cached, false},
		"a request that does not grow much": {60, inputOf(3800), true},
		"a difference of counts":            {60, inputOf(3990), false},
		"no report":                         {8000, inputOf(0), false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newCutMachine(t)
			warned, _ := m.turn(t, 600, inputOf(4000), 0)
			require.Empty(t, warned)
			before := m.thread.PromptTokens()
			warned, _ = m.turn(t, tt.grows, tt.report, 0)
			if !tt.cut {
				require.Empty(t, warned)
				return
			}
			require.Contains(t, warned, "OLLAMA_CONTEXT_LENGTH")
			require.Contains(t, warned, "num_ctx")
			require.Greater(t, m.thread.PromptTokens(), before, "the count is not scaled down")
			m.load()
			require.Greater(t, m.thread.PromptTokens(), before)
		})
	}
}

// TestCutPromptsAreCompactedByTheSmallerWindow compacts before the next request.
func TestCutPromptsAreCompactedByTheSmallerWindow(t *testing.T) {
	m := newCutMachine(t)
	for range 3 {
		m.turn(t, 24_000, inputOf(m.thread.PromptTokens()+6000), 0)
	}
	large := m.thread.PromptTokens()
	m.turn(t, 40_000, inputOf(large-4000), 0)
	m.load()
	m.turn(t, 60, inputOf(large-4000), 0)
	require.Less(t, m.thread.PromptTokens(), large)
}

// TestAReportOfTheWholeWindowIsACut, also of a first request: a whole prompt leaves room for an answer.
func TestAReportOfTheWholeWindowIsACut(t *testing.T) {
	for name, tt := range map[string]struct {
		reported, window int64
		configured, cut  bool
	}{
		"all of the window":      {4096, 4096, false, true},
		"less than the window":   {4095, 4096, false, false},
		"more than the window":   {4097, 4096, false, false},
		"a window of the user's": {4096, 4096, true, false},
		"no window":              {4096, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newCutMachine(t)
			window := tt.window
			if tt.configured {
				m.world.Provider.ContextWindow, m.world.Provider.WindowConfigured = new(tt.window), true
				window = 0
			}
			warned, _ := m.turn(t, 600, inputOf(tt.reported), window)
			if tt.cut {
				require.Contains(t, warned, "all that its window holds")
				require.GreaterOrEqual(t, m.thread.PromptTokens(), tt.window, "the next request is preceded by a compaction")
			} else {
				require.Empty(t, warned)
			}
		})
	}
}

// TestWindowReportedAfterTheAnswer shows a window that the provider knows only then, unless the user set one.
func TestWindowReportedAfterTheAnswer(t *testing.T) {
	m := newCutMachine(t)
	_, shown := m.turn(t, 60, inputOf(2000), 8192)
	require.EqualValues(t, 8192, shown)
	m = newCutMachine(t)
	m.world.Provider.ContextWindow, m.world.Provider.WindowConfigured = new(int64(5000)), true
	_, shown = m.turn(t, 60, inputOf(2000), 8192)
	require.EqualValues(t, 5000, shown)
}

// TestModelsWithoutAbilities are asked neither for calls nor for reasoning.
func TestModelsWithoutAbilities(t *testing.T) {
	m := newCutMachine(t)
	m.turn(t, 60, inputOf(2000), 0)
	effort := "high"
	m.world.Capabilities.NoTools, m.world.Capabilities.NoThinking = true, true
	m.take(core.TurnStart{To: m.caller(), Env: m.world,
		Params: &protocol.TurnStartParams{ThreadID: threadID, Input: goOn, Effort: &effort}})
	require.Empty(t, m.thread.Prompt().Tools)
	require.Empty(t, m.thread.Prompt().Effort)
}
