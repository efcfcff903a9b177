//go:build reference

package apptest

import (
	"encoding/json"

	"github.com/stretchr/testify/require"
)

// ComparedThread is the part of a thread that both servers return, with all members of its items.
type ComparedThread struct {
	ID, Preview, Name, Path string
	Turns                   []struct {
		ID, Status string
		Items      []Object
	}
}

// ComparedAnswer is the part of a response that both servers return. Only thread/resume has the
// settings.
type ComparedAnswer struct {
	Model, ModelProvider, Cwd, ApprovalPolicy string
	Sandbox                                   Object
	Thread                                    ComparedThread
}

// CompareAnswer returns the response of thread/resume or thread/read.
func (c *Client) CompareAnswer(method, id string) (a ComparedAnswer) {
	c.T.Helper()
	require.NoError(c.T, json.Unmarshal(c.Call(method, Object{"threadId": id, "includeTurns": true}), &a))
	return a
}

// Timeline returns the whole timeline of a thread, oldest entry first, without members that only
// this server has.
func (c *Client) Timeline(id string) (entries []Object) {
	c.T.Helper()
	for cursor := (*string)(nil); ; {
		var page struct {
			Data       []Object
			NextCursor *string
		}
		require.NoError(c.T,
			json.Unmarshal(c.Call("thread/timeline/list", Object{"threadId": id, "limit": 3, "cursor": cursor}), &page))
		for _, e := range page.Data {
			delete(e, "trimmed")
		}
		entries = append(page.Data, entries...)
		if cursor = page.NextCursor; cursor == nil {
			return entries
		}
	}
}

// Compact compacts a thread and waits for the turn.
func (c *Client) Compact(id string) {
	c.T.Helper()
	c.Call("thread/compact/start", Object{"threadId": id})
	require.Equal(c.T, "completed", c.AwaitTurn().Status)
}
