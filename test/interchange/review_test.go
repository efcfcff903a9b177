//go:build reference

package interchange

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestReferenceInterchangeReviews reviews with one server, and shows and continues the thread with
// the other. Its model gets the result, but not the reviewer's steps.
func TestReferenceInterchangeReviews(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
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

func (x *interchange) reviewed(first, second func() *apptest.Client, path string) {
	c := first()
	id := x.startThread(c)
	c.Turn(id, "hello")
	c.Call("review/start",
		apptest.Object{"threadId": id,
			"target": apptest.Object{"type": "custom", "instructions": "run: echo the reviewer looks"}})
	c.AwaitTurn()
	c.Close()

	c = second()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	shown := map[string]string{}
	for _, turn := range gjson.GetBytes(c.Call("thread/turns/list", apptest.Object{"threadId": id, "itemsView": "full"}),
		"data").Array() {
		for _, item := range turn.Get("items").Array() {
			shown[item.Get("type").Str] = item.Get("review").Str + item.Get("text").Str
		}
	}
	require.Equal(x.t, "run: echo the reviewer looks", shown["enteredReviewMode"])
	require.Equal(x.t, "done", shown["exitedReviewMode"])
	require.Contains(x.t, shown, "commandExecution")
	c.Turn(id, "what did it find")
	prompt := strings.Join(x.model.fullConversation(path), "\n")
	require.Contains(x.t, prompt, "<user_action>")
	require.Contains(x.t, prompt, "done")
	require.NotContains(x.t, prompt, "the reviewer looks")
	c.Close()
}
