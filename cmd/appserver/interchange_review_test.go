//go:build reference

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestReferenceInterchangeReviews has one server review and the other show it, and go on:
// its model hears the result, and nothing of what the reviewer did.
func TestReferenceInterchangeReviews(t *testing.T) {
	for name, run := range map[string]func(*interchange){
		"of ours":      func(x *interchange) { x.reviewed(x.ours, x.reference, theirRequests) },
		"of reference": func(x *interchange) { x.reviewed(x.reference, x.ours, ourRequests) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newInterchange(t))
		})
	}
}

func (x *interchange) reviewed(first, second func() *client, path string) {
	c := first()
	id := x.begin(c)
	c.turn(id, "hello")
	c.call("review/start", object{"threadId": id, "target": object{"type": "custom", "instructions": "run: echo the reviewer looks"}})
	c.awaitTurn()
	c.close()

	c = second()
	c.call("thread/resume", object{"threadId": id})
	shown := map[string]string{}
	for _, turn := range gjson.GetBytes(c.call("thread/turns/list", object{"threadId": id, "itemsView": "full"}), "data").Array() {
		for _, item := range turn.Get("items").Array() {
			shown[item.Get("type").Str] = item.Get("review").Str + item.Get("text").Str
		}
	}
	require.Equal(x.t, "run: echo the reviewer looks", shown["enteredReviewMode"])
	require.Equal(x.t, "done", shown["exitedReviewMode"])
	require.Contains(x.t, shown, "commandExecution")
	c.turn(id, "what did it find")
	heard := strings.Join(x.model.said(path), "\n")
	require.Contains(x.t, heard, "<user_action>")
	require.Contains(x.t, heard, "done")
	require.NotContains(x.t, heard, "the reviewer looks")
	c.close()
}
