package apptest

import (
	"encoding/json"
	"regexp"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// Notifications are the notifications of a method that came so far.
func (c *Client) Notifications(method string) (list []Message) {
	for _, m := range c.Seen {
		if m.Method == method {
			list = append(list, m)
		}
	}
	return list
}

const PNGHeader, PNGHeaderURL = "\x89PNG\r\n\x1a\n", "data:image/png;base64,iVBORw0KGgo="

// CommandItem is a command as items show it.
type CommandItem struct {
	Type, ID, Status, AggregatedOutput string
	ExitCode                           *int
}

// UntilCommand reads up to the end of a command.
func (c *Client) UntilCommand() CommandItem {
	c.T.Helper()
	return UntilItem[CommandItem](c, "commandExecution")
}

// UntilItem reads up to the end of an item of a type.
func UntilItem[T any](c *Client, kind string) (item T) {
	c.T.Helper()
	c.Until(func(m Message) bool {
		if m.Method != "item/completed" || gjson.GetBytes(m.Params, "item.type").Str != kind {
			return false
		}
		return json.Unmarshal([]byte(gjson.GetBytes(m.Params, "item").Raw), &item) == nil
	})
	return item
}

func RawStrings(messages []json.RawMessage) (texts []string) {
	for _, m := range messages {
		texts = append(texts, string(m))
	}
	return texts
}

// PatchCommand is a command that adds a file.
const PatchCommand = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: notes/new\n+a note\n*** End Patch\nEOF\n"

// ShellBlock asks the offline model to run a script of several lines.
func ShellBlock(script string) string { return "```sh\n" + script + "```" }

// PatchItem is a patch as items show it.
type PatchItem struct {
	Type, ID, Status string
	Changes          []struct {
		Path, Diff string
		Kind       struct{ Type string }
	}
}

var SessionPattern = regexp.MustCompile(`session ID (\d+)`)

// Terminals are those that run in the background.
func (c *Client) Terminals(thread string) (list []struct{ ItemID, ProcessID, Command string }) {
	c.T.Helper()
	answer := c.Call("thread/backgroundTerminals/list", Object{"threadId": thread})
	require.NoError(c.T, json.Unmarshal([]byte(gjson.GetBytes(answer, "data").Raw), &list))
	require.Equal(c.T, gjson.Null, gjson.GetBytes(answer, "nextCursor").Type)
	return list
}
