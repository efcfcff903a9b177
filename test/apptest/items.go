package apptest

import (
	"encoding/json"
	"regexp"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// Notifications returns the notifications with a method that were read.
func (c *Client) Notifications(method string) (list []Message) {
	for _, m := range c.Seen {
		if m.Method == method {
			list = append(list, m)
		}
	}
	return list
}

// TinyGIF is an image of one pixel, and TinyGIFURL is its data URL.
const (
	TinyGIF    = "GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"
	TinyGIFURL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="
)

// CommandItem is a commandExecution item.
type CommandItem struct {
	Type, ID, Status, AggregatedOutput string
	ExitCode                           *int
}

// UntilCommand reads until a command completes.
func (c *Client) UntilCommand() CommandItem {
	c.T.Helper()
	return UntilItem[CommandItem](c, "commandExecution")
}

// UntilItem reads until an item of a type completes.
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

// RawStrings returns JSON values as strings.
func RawStrings(messages []json.RawMessage) (texts []string) {
	for _, m := range messages {
		texts = append(texts, string(m))
	}
	return texts
}

// PatchCommand is a shell command that adds a file by apply_patch.
const PatchCommand = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: notes/new\n+a note\n*** End Patch\nEOF\n"

// ShellBlock returns an input that makes the offline provider run a script of several lines.
func ShellBlock(script string) string { return "```sh\n" + script + "```" }

// PatchItem is a fileChange item.
type PatchItem struct {
	Type, ID, Status string
	Changes          []struct {
		Path, Diff string
		Kind       struct{ Type string }
	}
}

// SessionPattern matches the session ID in an output of exec_command.
var SessionPattern = regexp.MustCompile(`session ID (\d+)`)

// Terminals returns the background terminals of a thread.
func (c *Client) Terminals(thread string) (list []struct{ ItemID, ProcessID, Command string }) {
	c.T.Helper()
	answer := c.Call("thread/backgroundTerminals/list", Object{"threadId": thread})
	require.NoError(c.T, json.Unmarshal([]byte(gjson.GetBytes(answer, "data").Raw), &list))
	require.Equal(c.T, gjson.Null, gjson.GetBytes(answer, "nextCursor").Type)
	return list
}
