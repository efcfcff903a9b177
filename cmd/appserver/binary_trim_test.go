package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// conversation is what a request holds behind the system message and the surroundings: the
// roles and the texts of its messages.
func (r chatRequest) conversation(t testing.TB) (texts []string) {
	t.Helper()
	for _, raw := range r.Messages[1:] {
		var m chatMessage
		require.NoError(t, json.Unmarshal(raw, &m))
		if !strings.HasPrefix(m.Content, "<environment_context>") {
			texts = append(texts, m.Role+": "+m.Content)
		}
	}
	return texts
}

// counting are answers "answer 0" and so on.
func counting(n int) (answers []func(w io.Writer)) {
	for i := range n {
		answers = append(answers, says(fmt.Sprintf("answer %d", i)))
	}
	return answers
}

// turns runs turns that ask "question 0" and so on.
func (c *client) turns(thread string, n int) {
	c.t.Helper()
	for i := range n {
		require.Equal(c.t, "completed", c.turn(thread, fmt.Sprintf("question %d", i)).Status)
	}
}

// next asks once more, and gives the request: its conversation, and its prompt-cache key.
func (p *provider) next(c *client, thread, text string) (conversation []string, key string) {
	c.t.Helper()
	require.Equal(c.t, "completed", c.turn(thread, text).Status)
	asked := p.asked()
	last := asked[len(asked)-1]
	return last.conversation(c.t), gjson.Get(last.Body, "prompt_cache_key").Str
}

// TestBinaryTrimShowsTheBootstrap: the request after a trim holds what the provider session
// was said to begin with, and nothing else, under a key of its own; undone, it holds what it
// held before.
func TestBinaryTrimShowsTheBootstrap(t *testing.T) { onBothWires(t, binaryTrimShowsTheBootstrap) }

func binaryTrimShowsTheBootstrap(t *testing.T, on wireAPI) {
	t.Parallel()
	const summary = "user: Summary of the earlier conversation, which is not in the context any more:\n\nIt was about numbers."
	turns := func(from, to int) (texts []string) {
		for i := from; i < to; i++ {
			texts = append(texts, fmt.Sprintf("user: question %d", i), fmt.Sprintf("assistant: answer %d", i))
		}
		return texts
	}
	for name, o := range map[string]struct {
		trim object
		kind string
		want []string
	}{
		"turns":             {object{"keepLastNTurns": 2}, protocol.BootstrapTurns, turns(2, 4)},
		"summary":           {object{"keepLastNTurns": 0, "summary": "It was about numbers."}, protocol.BootstrapSummary, []string{summary}},
		"summary and turns": {object{"keepLastNTurns": 1, "summary": "It was about numbers."}, protocol.BootstrapSummary, append([]string{summary}, turns(3, 4)...)},
		"none":              {object{}, protocol.BootstrapNone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := on.provider(t, counting(7)...)
			home := p.home(t)
			c := startServer(t, home)
			c.initialize()
			thread := c.startThread(object{"cwd": "/"})
			c.turns(thread, 4)
			before := p.asked()[3]
			o.trim["threadId"] = thread
			c.ask("thread/context/trim", o.trim)
			var started protocol.ThreadSessionStartedNotification
			require.NoError(t, json.Unmarshal(c.untilMethod("thread/session/started").Params, &started))
			require.Equal(t, o.kind, started.Bootstrap.Kind)

			got, key := p.next(c, thread, "and now?")
			require.Equal(t, append(slices.Clone(o.want), "user: and now?"), got)
			require.Equal(t, started.SessionID, key)
			require.NotEqual(t, gjson.Get(before.Body, "prompt_cache_key").Str, key)
			c.kill()

			c = startServer(t, home)
			c.initialize()
			c.call("thread/resume", object{"threadId": thread})
			got, again := p.next(c, thread, "after a crash?")
			require.Equal(t, append(slices.Clone(o.want), "user: and now?", "assistant: answer 4", "user: after a crash?"), got)
			require.Equal(t, key, again)
			c.call("context/undo", object{"threadId": thread})
			got, _ = p.next(c, thread, "undone?")
			require.Equal(t, append(turns(0, 4), "user: and now?", "assistant: answer 4", "user: after a crash?", "assistant: answer 5", "user: undone?"), got)
			c.close()
		})
	}
}
