package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestCorpusCanBeContinued lists, reads, resumes and continues a thread of every released version.
func TestCorpusCanBeContinued(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(12)...)
	home := p.Home(t)
	ids := apptest.PutCorpus(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	listed := gjson.GetBytes(c.Call("thread/list",
		apptest.Object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}}),
		"data.#.id").Array()
	require.Len(t, listed, len(ids))
	for version, id := range ids {
		turns := gjson.GetBytes(c.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true}),
			"thread.turns").Array()
		require.Equal(t, []string{"[[shell:echo hi]] first", "done", "[[think:hm]][[say:fine]] second", "fine"},
			messagesOf(turns), version)
		for _, turn := range turns {
			require.Equal(t, "completed", turn.Get("status").Str, version)
		}
		c.Call("thread/resume", apptest.Object{"threadId": id, "model": "test", "modelProvider": "test"})
		require.Equal(t, "completed", c.Turn(id, "third").Status, version)
		requests := p.Requests()
		checkContinued(t, version, requests[len(requests)-1])
	}
	c.Close()
}

// messagesOf returns the messages of turns.
func messagesOf(turns []gjson.Result) (texts []string) {
	for _, turn := range turns {
		for _, item := range turn.Get("items").Array() {
			switch item.Get("type").Str {
			case "userMessage":
				texts = append(texts, item.Get("content.0.text").Str)
			case "agentMessage":
				texts = append(texts, item.Get("text").Str)
			}
		}
	}
	return texts
}

// checkContinued checks a request that continues a conversation of the corpus.
func checkContinued(t *testing.T, version string, request apptest.ChatRequest) {
	t.Helper()
	var got []string
	for _, raw := range request.Messages {
		m := gjson.ParseBytes(raw)
		text := m.Get("content").Str
		switch {
		case m.Get("tool_calls").Exists():
			got = append(got, "call")
		case m.Get("role").Str == "tool":
			require.Contains(t, text, "hi", version)
			got = append(got, "output")
		case m.Get("role").Str == "user": // with the description of the environment
			got = append(got, "user: "+apptest.LastParagraph(text))
		case m.Get("role").Str != "system":
			got = append(got, fmt.Sprintf("%s: %s", m.Get("role").Str, text))
		}
	}
	require.Equal(t, []string{
		"user: [[shell:echo hi]] first", "call", "output", "assistant: done",
		"user: [[think:hm]][[say:fine]] second", "assistant: fine", "user: third",
	}, got, version)
}
