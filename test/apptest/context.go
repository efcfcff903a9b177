package apptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// ContextList is the list of context items, as the server gives it.
func (c *Client) ContextList(thread string) (list protocol.ContextGetItemsResponse) {
	c.T.Helper()
	require.NoError(c.T, json.Unmarshal(c.Call("context/getItems", Object{"threadId": thread}), &list))
	return list
}

// FindItems are the ids of items of a category whose previews contain a text.
func FindItems(list protocol.ContextGetItemsResponse, category protocol.ContextCategory, text string) (ids []string) {
	for _, item := range list.Items {
		if item.Category == category && strings.Contains(item.Preview, text) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// PromptOf are the messages of the next request, rewritten as those of a chatRequest.
func PromptOf(c *Client, thread string) []string {
	c.T.Helper()
	var prompt protocol.ContextGetPromptResponse
	require.NoError(c.T, json.Unmarshal(c.Call("context/getPrompt", Object{"threadId": thread}), &prompt))
	return RawStrings(promptAsMessages(prompt.Messages))
}

// Conversation is what a request holds behind the system message and the surroundings: the
// roles and the texts of its messages.
func (r ChatRequest) Conversation(t testing.TB) (texts []string) {
	t.Helper()
	for _, raw := range r.Messages[1:] {
		var m ChatMessage
		require.NoError(t, json.Unmarshal(raw, &m))
		if !strings.HasPrefix(m.Content, "<environment_context>") {
			texts = append(texts, m.Role+": "+m.Content)
		}
	}
	return texts
}

// RunTurns runs turns that ask "question 0" and so on.
func (c *Client) RunTurns(thread string, n int) {
	c.T.Helper()
	for i := range n {
		require.Equal(c.T, "completed", c.Turn(thread, fmt.Sprintf("question %d", i)).Status)
	}
}

// NextRequest asks once more, and gives the request: its conversation, and its prompt-cache key.
func (p *Provider) NextRequest(c *Client, thread, text string) (conversation []string, key string) {
	c.T.Helper()
	require.Equal(c.T, "completed", c.Turn(thread, text).Status)
	asked := p.Requests()
	last := asked[len(asked)-1]
	return last.Conversation(c.T), gjson.Get(last.Body, "prompt_cache_key").Str
}
