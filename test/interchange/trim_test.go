//go:build reference

package interchange

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// trimCase is a way to shorten a thread of four turns.
type trimCase struct {
	name string
	trim func(c *apptest.Client, id string)
	// plain is what a reader makes of the lines as they were appended, which knows of
	// compactions that bring no history, and of no trims.
	plain []string
}

const (
	earlySummary = "user: Summary of the earlier conversation, which is not in the context any more:\n\nAn early\nsummary."
	madeSummary  = "user: Summary of the earlier conversation, which is not in the context any more:\n\nanswer to # Conversation"
	againSummary = "user: Summary of the earlier conversation, which is not in the context any more:\n\nanswer to # Summary of the conversation before"
)

func fourTurns() []string {
	return []string{
		"user: first", "assistant: answer to first",
		"user: run: seq 100 102", "call call_1: seq 100 102", "output call_1: 100\n101\n102\n", "assistant: done",
		"user: third", "assistant: answer to third",
		"user: run: seq 200 202", "call call_2: seq 200 202", "output call_2: 200\n201\n202\n", "assistant: done",
	}
}

func fourWords() []string {
	return []string{"user: first", "user: run: seq 100 102", "user: third", "user: run: seq 200 202"}
}

func twoMore() []string {
	return []string{
		"user: run: seq 300 302", "call call_3: seq 300 302", "output call_3: 300\n301\n302\n", "assistant: done",
		"user: sixth", "assistant: answer to sixth",
	}
}

func trimCases() []trimCase {
	return []trimCase{
		{"trim", func(c *apptest.Client, id string) {
			c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2})
		}, fourTurns()},
		{"trim with summary", trimEarly, fourTurns()},
		{"trim everything", func(c *apptest.Client,
			id string) {
			c.Call("thread/context/trim", apptest.Object{"threadId": id})
		}, fourTurns()},
		{"compaction", (*apptest.Client).Compact, append(fourWords(), madeSummary)},
		{"compaction undone", func(c *apptest.Client, id string) {
			c.Compact(id)
			c.Call("context/undo", apptest.Object{"threadId": id})
		}, append(fourWords(), madeSummary)},
		{"compaction after trim", func(c *apptest.Client, id string) {
			trimEarly(c, id)
			takeTwo(c, id)
			c.Compact(id)
		}, append(fourWords(), "user: run: seq 300 302", "user: sixth", againSummary)},
		{"trim after compaction", func(c *apptest.Client, id string) {
			c.Compact(id)
			takeTwo(c, id)
			c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 1})
		}, append(append(fourWords(), madeSummary), twoMore()...)},
	}
}

func trimEarly(c *apptest.Client, id string) {
	c.T.Helper()
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2, "summary": "An early\nsummary."})
}

func takeTwo(c *apptest.Client, id string) {
	c.T.Helper()
	c.Turn(id, "run: seq 300 302")
	c.Turn(id, "sixth")
}

// TestReferenceInterchangeTrims has the reference implementation go on with threads of
// ours that were trimmed and compacted. People see all turns, and its model is sent what
// ours would be, where we closed the thread. Of one that nobody closed it makes what is
// plain; ours stays what it was.
func TestReferenceInterchangeTrims(t *testing.T) {
	for _, v := range trimCases() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, told := x.trimmed(v)
			c.Close()
			told = append(told, "user: next")
			require.Equal(t, told, x.goOnThere(id, "next"))
			told = append(told, "assistant: answer to next", "user: more")
			require.Equal(t, told, x.goOnHere(id, "more"))
			require.Equal(t, append(told, "assistant: answer to more", "user: last"), x.goOnThere(id, "last"))
		})
		t.Run(v.name+", killed", func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, told := x.trimmed(v)
			c.Kill()
			require.Equal(t, append(v.plain, "user: next"), x.goOnThere(id, "next"))
			said, warnings := x.turnHere(id, "more")
			require.Equal(t, append(told, "user: next", "assistant: answer to next", "user: more"), said)
			for _, warning := range warnings {
				require.Contains(t, warning, "the ordinals of", "it counts on from the last line that it knows")
			}
		})
		t.Run(v.name+", killed and closed", func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, told := x.trimmed(v)
			c.Kill()
			told = append(told, "user: next")
			require.Equal(t, told, x.goOnHere(id, "next"))
			require.Equal(t, append(told, "assistant: answer to next", "user: more"), x.goOnThere(id, "more"))
		})
	}
}

// trimmed is a thread of ours that was trimmed, and what our model would be told.
func (x *interchange) trimmed(v trimCase) (c *apptest.Client, id string, told []string) {
	x.t.Helper()
	c = apptest.StartServer(x.t, x.home, "-c", "compaction.keep_turns=1")
	c.Initialize()
	id = x.begin(c)
	x.takeFour(c, id)
	v.trim(c, id)
	return c, id, saidIn(x.t, apptest.PromptOf(c, id))
}

// goOnHere has us take a turn, and returns what our model was told.
func (x *interchange) goOnHere(id, text string) []string {
	x.t.Helper()
	said, warnings := x.turnHere(id, text)
	require.Empty(x.t, warnings)
	return said
}

func (x *interchange) turnHere(id, text string) (said, warnings []string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(x.t, "completed", c.Turn(id, text).Status)
	c.Close()
	return x.model.said(ourRequests), c.Warnings()
}

// goOnThere has the reference implementation take a turn, once it shows what we do, and
// returns what its model was told.
func (x *interchange) goOnThere(id, text string) []string {
	x.t.Helper()
	shown := x.shownByOurs(id)
	c := x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	require.Equal(x.t, shown, c.CompareAnswer("thread/read", id).Thread)
	require.Equal(x.t, "completed", c.Turn(id, text).Status)
	c.Close()
	return x.model.said(theirRequests)
}

func (x *interchange) takeFour(c *apptest.Client, id string) {
	x.t.Helper()
	for _, text := range []string{"first", "run: seq 100 102", "third", "run: seq 200 202"} {
		require.Equal(x.t, "completed", c.Turn(id, text).Status)
	}
}

// TestReferenceInterchangeCompacts has us go on with threads that the reference
// implementation compacted: our model is sent what its would be, and people see the same.
func TestReferenceInterchangeCompacts(t *testing.T) {
	for name, v := range map[string]struct {
		start func(*interchange) *apptest.Client
		trim  func(c *apptest.Client, id string)
		// want is what there was before.
		want []string
	}{
		"theirs":          {(*interchange).reference, func(*apptest.Client, string) {}, fourTurns()},
		"ours":            {(*interchange).ours, func(*apptest.Client, string) {}, fourTurns()},
		"trimmed by us":   {(*interchange).ours, trimEarly, append([]string{earlySummary}, fourTurns()[6:]...)},
		"compacted by us": {(*interchange).ours, (*apptest.Client).Compact, append(fourWords(), madeSummary)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c := v.start(x)
			id := x.begin(c)
			x.takeFour(c, id)
			v.trim(c, id)
			c.Close()
			x.compactedThere(id)
			x.undoThere(id, v.want)
		})
	}
}

// compactedThere has the reference implementation compact a thread, and us go on.
func (x *interchange) compactedThere(id string) {
	x.t.Helper()
	c := x.reference()
	c.CompareAnswer("thread/resume", id)
	c.Compact(id)
	c.Turn(id, "next")
	told := x.model.said(theirRequests)
	require.Contains(x.t, told, "user: third")
	require.Contains(x.t, strings.Join(told, "\n"), "\n"+theirSummary)
	require.NotContains(x.t, told, "assistant: answer to third")
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()

	c = x.ours()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "more")
	require.Equal(x.t, append(told, "assistant: answer to next", "user: more"), x.model.said(ourRequests))
	c.Close()
}

// theirSummary is how the answer begins to its request for a summary.
const theirSummary = "answer to You are performing"

// undoThere has us take back a compaction of the reference implementation. It keeps the
// summary as an answer, too, before it compacts.
func (x *interchange) undoThere(id string, want []string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Call("context/undo", apptest.Object{"threadId": id})
	whole := saidIn(x.t, apptest.PromptOf(c, id))
	require.Equal(x.t, want, whole[:len(want)])
	require.Contains(x.t, whole[len(want)], "assistant: "+theirSummary)
	require.Equal(x.t, []string{"user: next", "assistant: answer to next", "user: more", "assistant: answer to more"},
		whole[len(want)+1:])
	c.Close()
}

// saidIn are the messages of a request, whole.
func saidIn(t *testing.T, messages []string) []string {
	t.Helper()
	var r modelRequest
	require.NoError(t, json.Unmarshal([]byte(`{"messages":[`+strings.Join(messages, ",")+`]}`), &r))
	return r.said()
}

// said is what the last request on a path told the model, whole.
func (m *bilingual) said(path string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard[path].said()
}

// said is what told tells, with all lines of messages.
func (r modelRequest) said() (texts []string) {
	for _, e := range append(r.Messages, r.Input...) {
		told := e.told()
		if _, rest, more := strings.Cut(string(e.Content), "\n"); more && len(told) > 0 && e.Role != "tool" {
			told[0] += "\n" + rest
		}
		texts = append(texts, told...)
	}
	return texts
}
