package apptest

import (
	"strings"

	"github.com/tidwall/gjson"
)

// EventStream returns the body of a streamed answer with these events and response.completed.
func EventStream(events ...string) string {
	var b strings.Builder
	for _, e := range append(events,
		`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":20,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":25}}}`) {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// ItemDone returns the event with a complete item.
func ItemDone(item string) string {
	return `{"type":"response.output_item.done","item":` + item + `}`
}

const (
	EncryptedReasoning = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Thinking"}],"encrypted_content":"SEALED"}`
	HelloMessage       = `{"type":"message","id":"m_1","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"hello","annotations":[]}]}`
)

// ItemAdded returns the event that announces an item.
func ItemAdded(item string) string {
	return `{"type":"response.output_item.added","item":` + item + `}`
}

const (
	SearchStarted       = `{"type":"web_search_call","id":"ws_1","status":"in_progress"}`
	SearchDone          = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"weather"}}`
	PageOpened          = `{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://a.org"}}`
	PageSearch          = `{"type":"web_search_call","id":"ws_3","status":"completed","action":{"type":"find_in_page","url":"https://a.org","pattern":"rain"}}`
	SearchManyQueries   = `{"type":"web_search_call","id":"ws_4","status":"completed","action":{"type":"search","queries":["one","two"]}}`
	SearchWithoutAction = `{"type":"web_search_call","id":"ws_5","status":"failed"}`
)

// WebSearches returns the method, query and action of each webSearch item in the messages.
func WebSearches(messages []Message) (list [][3]string) {
	for _, m := range messages {
		if item := gjson.GetBytes(m.Params, "item"); item.Get("type").Str == "webSearch" {
			list = append(list, [3]string{m.Method, item.Get("query").Str, item.Get("action").Raw})
		}
	}
	return list
}

// TurnMessages runs a turn and returns the messages that were read.
func (c *Client) TurnMessages(thread, text string) (messages []Message) {
	c.BeginTurn(thread, text)
	c.Until(func(m Message) bool {
		messages = append(messages, m)
		return m.Method == "turn/completed"
	})
	return messages
}
