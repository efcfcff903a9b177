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

// ContextList returns the context items of a thread.
func (c *Client) ContextList(thread string) (list protocol.ContextGetItemsResponse) {
	c.T.Helper()
	require.NoError(c.T, json.Unmarshal(c.Call("context/getItems", Object{"threadId": thread}), &list))
	return list
}

// EditParams returns the method of an operation on the context, and its params.
func EditParams(t testing.TB, thread string, o protocol.ContextOperationVariant) (method string, params Object) {
	t.Helper()
	raw, err := protocol.Marshal(o)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &params))
	params["threadId"] = thread
	return protocol.ContextMethod(o), params
}

// FindItems returns the ids of the items with a category and a text in their preview.
func FindItems(list protocol.ContextGetItemsResponse, category protocol.ContextCategory, text string) (ids []string) {
	for _, item := range list.Items {
		if item.Category == category && strings.Contains(item.Preview, text) {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// PromptOf returns the messages of the next model request in the form of Chat Completions.
func PromptOf(c *Client, thread string) []string {
	c.T.Helper()
	var prompt protocol.ContextGetPromptResponse
	require.NoError(c.T, json.Unmarshal(c.Call("context/getPrompt", Object{"threadId": thread}), &prompt))
	return RawStrings(promptAsMessages(prompt.Messages))
}

// Conversation returns the role and text of each message after the system prompt, without the
// environment.
func (r ChatRequest) Conversation(t testing.TB) (texts []string) {
	t.Helper()
	for _, raw := range r.Messages[1:] {
		var m ChatMessage
		require.NoError(t, json.Unmarshal(raw, &m))
		if strings.HasPrefix(m.Content, "<environment_context>") {
			_, m.Content, _ = strings.Cut(m.Content, "</environment_context>\n\n")
		}
		if m.Content != "" || m.Role != "user" {
			texts = append(texts, m.Role+": "+m.Content)
		}
	}
	return JoinUsers(texts)
}

// JoinUsers joins the texts of neighbouring messages of the user, as Chat Completions has them.
func JoinUsers(texts []string) (joined []string) {
	for _, text := range texts {
		rest, ofUser := strings.CutPrefix(text, "user: ")
		if last := len(joined) - 1; ofUser && last >= 0 && strings.HasPrefix(joined[last], "user: ") {
			joined[last] += "\n\n" + rest
			continue
		}
		joined = append(joined, text)
	}
	return joined
}

// RunTurns runs n turns with the inputs "question 0", "question 1", and so on.
func (c *Client) RunTurns(thread string, n int) {
	c.T.Helper()
	for i := range n {
		require.Equal(c.T, "completed", c.Turn(thread, fmt.Sprintf("question %d", i)).Status)
	}
}

// NextRequest runs a turn. It returns the conversation and the prompt cache key of the turn's last
// model request.
func (p *Provider) NextRequest(c *Client, thread, text string) (conversation []string, key string) {
	c.T.Helper()
	require.Equal(c.T, "completed", c.Turn(thread, text).Status)
	requests := p.Requests()
	last := requests[len(requests)-1]
	return last.Conversation(c.T), gjson.Get(last.Body, "prompt_cache_key").Str
}
