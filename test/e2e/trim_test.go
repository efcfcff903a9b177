package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// countingAnswers returns the answers "answer 0", "answer 1", and so on.
func countingAnswers(n int) (answers []func(w io.Writer)) {
	for i := range n {
		answers = append(answers, apptest.TextAnswer(fmt.Sprintf("answer %d", i)))
	}
	return answers
}

// TestTrimNotifiesNextPrompt requires that the request after a trim equals the notified start of
// the provider session, with its own cache key. After undo it equals the earlier request.
func TestTrimNotifiesNextPrompt(t *testing.T) {
	apptest.OnBothWires(t, testTrimNotifiesNextPrompt)
}

func testTrimNotifiesNextPrompt(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	const summary = "user: Summary of the earlier conversation, which is not in the context any more:\n\nIt was about numbers."
	turns := func(from, to int) (texts []string) {
		for i := from; i < to; i++ {
			texts = append(texts, fmt.Sprintf("user: question %d", i), fmt.Sprintf("assistant: answer %d", i))
		}
		return texts
	}
	for name, o := range map[string]struct {
		trim apptest.Object
		kind string
		want []string
	}{
		"turns": {apptest.Object{"keepLastNTurns": 2}, protocol.BootstrapTurns, turns(2, 4)},
		"summary": {apptest.Object{"keepLastNTurns": 0, "summary": "It was about numbers."},
			protocol.BootstrapSummary, []string{summary}},
		"summary and turns": {apptest.Object{"keepLastNTurns": 1, "summary": "It was about numbers."},
			protocol.BootstrapSummary, append([]string{summary}, turns(3, 4)...)},
		"none": {apptest.Object{}, protocol.BootstrapNone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := on.NewProvider(t, countingAnswers(7)...)
			home := p.Home(t)
			c := apptest.StartServer(t, home)
			c.Initialize()
			thread := c.StartThread(apptest.Object{"cwd": c.T.TempDir()})
			c.RunTurns(thread, 4)
			before := p.Requests()[3]
			o.trim["threadId"] = thread
			c.SendRequest("thread/context/trim", o.trim)
			var started protocol.ThreadSessionStartedNotification
			require.NoError(t, json.Unmarshal(c.UntilMethod("thread/session/started").Params, &started))
			require.Equal(t, o.kind, started.Bootstrap.Kind)

			got, key := p.NextRequest(c, thread, "and now?")
			require.Equal(t, apptest.JoinUsers(append(slices.Clone(o.want), "user: and now?")), got)
			require.Equal(t, started.SessionID, key)
			require.NotEqual(t, gjson.Get(before.Body, "prompt_cache_key").Str, key)
			c.Kill()

			c = apptest.StartServer(t, home)
			c.Initialize()
			c.Call("thread/resume", apptest.Object{"threadId": thread})
			got, again := p.NextRequest(c, thread, "after a crash?")
			want := append(slices.Clone(o.want), "user: and now?", "assistant: answer 4", "user: after a crash?")
			require.Equal(t, apptest.JoinUsers(want), got)
			require.Equal(t, key, again)
			c.Call("context/undo", apptest.Object{"threadId": thread})
			got, _ = p.NextRequest(c, thread, "undone?")
			require.Equal(t, append(turns(0, 4), "user: and now?", "assistant: answer 4", "user: after a crash?",
				"assistant: answer 5", "user: undone?"), got)
			c.Close()
		})
	}
}
