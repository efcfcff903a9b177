package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// notesOf returns the notes of the listed items, by their ids.
func notesOf(c *apptest.Client, thread string) map[string]string {
	notes := map[string]string{}
	for _, item := range c.ContextList(thread).Items {
		if item.Note != "" {
			notes[item.ID] = item.Note
		}
	}
	return notes
}

// TestNotesAreNeverSent attaches notes to all items. No request to the provider has them, they cost nothing, and the
// prompt stays the same to the byte.
func TestNotesAreNeverSent(t *testing.T) { apptest.OnBothWires(t, testNotesAreNeverSent) }

func testNotesAreNeverSent(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, apptest.ShellAnswer("c1", "echo out"), apptest.TextAnswer("Read."),
		apptest.TextAnswer("Done."), apptest.TextAnswer("A summary."), apptest.TextAnswer("Last."))
	c := apptest.StartServer(t, p.Home(t), "-c", "compaction.keep_turns=1")
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "Read the configuration.")
	before, prompt := c.ContextList(thread), apptest.PromptOf(c, thread)
	var ids []string
	for _, item := range before.Items {
		ids = append(ids, item.ID)
	}
	edit := apptest.Object{"type": "setNote", "ids": ids, "note": "hippopotamus"}
	preview := gjson.ParseBytes(c.Call("context/preview", apptest.Object{"threadId": thread, "edits": []any{edit}}))
	require.Empty(t, preview.Get("changes").Array(), preview)
	require.Empty(t, preview.Get("warnings").Array(), preview)
	edit["threadId"] = thread
	require.EqualValues(t, len(ids), gjson.GetBytes(c.Call("context/setNote", edit), "changed").Int())
	require.Len(t, notesOf(c, thread), len(ids))
	require.Equal(t, prompt, apptest.PromptOf(c, thread))
	require.Equal(t, before.Usage, c.ContextList(thread).Usage)

	require.Equal(t, "completed", c.Turn(thread, "And now the parser.").Status)
	c.Call("thread/compact/start", apptest.Object{"threadId": thread, "strategy": "summary"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.Equal(t, "completed", c.Turn(thread, "Go on.").Status)
	require.GreaterOrEqual(t, len(p.Requests()), 4)
	for _, r := range p.Requests() {
		require.NotContains(t, r.Body, "hippopotamus")
	}
}

// TestNotesStay expects a note after a restart, in a fork, after an exclusion and a restore, and after an undo and a
// redo.
func TestNotesStay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	thread := c.StartTrusted()
	c.Turn(thread, "run: echo one")
	item := c.ContextList(thread).Items[1].ID
	set := func(c *apptest.Client, note any) gjson.Result {
		return gjson.ParseBytes(c.Call("context/setNote",
			apptest.Object{"threadId": thread, "ids": []string{item, "r999"}, "note": note}))
	}
	r := set(c, "first line\nsecond \u2028 \U0001F600")
	require.EqualValues(t, 1, r.Get("changed").Int())
	require.EqualValues(t, 1, r.Get("ignored").Int())
	require.False(t, r.Get("usage").Exists())
	want := map[string]string{item: "first line\nsecond \u2028 \U0001F600"}
	require.Equal(t, want, notesOf(c, thread))
	read := c.Call("context/readItem", apptest.Object{"threadId": thread, "id": item})
	require.Equal(t, want[item], gjson.GetBytes(read, "item.note").Str)
	edits := c.Call("context/listEdits", apptest.Object{"threadId": thread, "includeItems": true})
	require.Equal(t, "note", gjson.GetBytes(edits, "edits.0.op").Str)
	require.JSONEq(t, `[{"id":"`+item+`","was":"included","is":"included"}]`, gjson.GetBytes(edits, "edits.0.items").Raw)
	require.Zero(t, set(c, want[item]).Get("changed").Int(), "the same note changes nothing")

	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{item}, "included": false})
	c.Close()
	c = apptest.StartOffline(t, home)
	require.Equal(t, want, notesOf(c, thread), "the rollout was rewritten for other programs")
	c.CallThread("thread/resume", apptest.Object{"threadId": thread})
	c.Call("context/restore", apptest.Object{"threadId": thread})
	require.Equal(t, want, notesOf(c, thread))
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread}).ID
	require.Equal(t, want, notesOf(c, fork))

	set(c, nil)
	require.Empty(t, notesOf(c, thread))
	require.Equal(t, want, notesOf(c, fork))
	c.Call("context/undo", apptest.Object{"threadId": thread})
	require.Equal(t, want, notesOf(c, thread))
	c.Call("context/goto", apptest.Object{"threadId": thread, "revision": 0})
	require.Empty(t, notesOf(c, thread))
	c.Call("context/goto", apptest.Object{"threadId": thread, "revision": 1})
	require.Equal(t, want, notesOf(c, thread))
	c.Call("context/apply", apptest.Object{"threadId": thread, "edits": []any{
		apptest.Object{"type": "setNote", "ids": []string{item}, "note": "other"},
		apptest.Object{"type": "pin", "ids": []string{item}, "pinned": true}}})
	require.Equal(t, map[string]string{item: "other"}, notesOf(c, thread))
	c.Call("context/undo", apptest.Object{"threadId": thread})
	require.Equal(t, want, notesOf(c, thread))
}

// TestNotesAreBounded rejects notes without a text and notes of more than 2,000 characters, also within a list of
// edits.
func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	thread := c.StartTrusted()
	c.Turn(thread, "hello")
	item := c.ContextList(thread).Items[0].ID
	for note, want := range map[string]string{
		"":                        "the note is empty: name a text, or null to remove the note",
		" \n\t":                   "the note is empty",
		strings.Repeat("é", 2001): "the note has 2001 characters, and at most 2000 are accepted: shorten it",
	} {
		edit := apptest.Object{"type": "setNote", "ids": []string{item}, "note": note}
		m := c.Request("context/apply", apptest.Object{"threadId": thread, "edits": []any{edit}})
		require.NotNil(t, m.Error)
		require.Contains(t, m.Error.Message, want)
		require.Equal(t, "edits.0.note", m.Error.Data.Field)
		edit["threadId"] = thread
		m = c.Request("context/setNote", edit)
		require.NotNil(t, m.Error)
		require.Contains(t, m.Error.Message, want)
		require.EqualValues(t, protocol.KindInvalidParams, m.Error.Data.Kind)
	}
	require.Zero(t, c.ContextList(thread).Revision)
	long := strings.Repeat("é", 2000)
	c.Call("context/setNote", apptest.Object{"threadId": thread, "ids": []string{item}, "note": long})
	require.Equal(t, map[string]string{item: long}, notesOf(c, thread))
}

// TestSecretsInNotesAreNotWritten removes a secret from the line of a note.
func TestSecretsInNotesAreNotWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	thread := c.StartTrusted()
	c.Turn(thread, "hello")
	item := c.ContextList(thread).Items[0].ID
	edit := apptest.Object{"type": "setNote", "ids": []string{item}, "note": "it has " + githubToken}
	c.Call("context/apply", apptest.Object{"threadId": thread, "edits": []any{edit}})
	edit["threadId"], edit["note"] = thread, "again "+githubToken
	c.Call("context/setNote", edit)
	c.Close()
	require.Empty(t, filesWith(t, home, githubToken))
	c = apptest.StartOffline(t, home)
	require.Equal(t, map[string]string{item: "again [redacted]"}, notesOf(c, thread))
	var list protocol.ContextListEditsResponse
	require.NoError(t, json.Unmarshal(c.Call("context/listEdits", apptest.Object{"threadId": thread}), &list))
	require.Len(t, list.Edits, 2)
}
