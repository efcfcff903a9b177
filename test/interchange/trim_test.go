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
	// plain is the prompt of a reader of the appended lines that ignores trims, and compactions
	// without a history.
	plain []string
}

// The summaries of the cases.
const (
	earlySummary = "An early\nsummary."
	madeSummary  = "answer to # Conversation"
	againSummary = "answer to # Summary of the conversation before"
)

// summarized returns a prompt with a summary after it.
func summarized(prompt []string, summary string) []string {
	return append(prompt, "user: Summary of the earlier conversation, which is not in the context any more:", "user: "+summary)
}

func fourTurns() []string {
	return []string{
		"user: first", "assistant: answer to first",
		"user: run: seq 100 102", "call call_1: seq 100 102", "output call_1: 100\n101\n102\n", "assistant: done",
		"user: third", "assistant: answer to third",
		"user: run: seq 200 202", "call call_2: seq 200 202", "output call_2: 200\n201\n202\n", "assistant: done",
	}
}

func fourInputs() []string {
	return []string{"user: first", "user: run: seq 100 102", "user: third", "user: run: seq 200 202"}
}

func twoMoreTurns() []string {
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
		{"trim with summary", trimToTwoTurns, fourTurns()},
		{"trim everything", func(c *apptest.Client, id string) {
			c.Call("thread/context/trim", apptest.Object{"threadId": id})
		}, fourTurns()},
		{"compaction", (*apptest.Client).Compact, summarized(fourInputs(), madeSummary)},
		{"compaction undone", func(c *apptest.Client, id string) {
			c.Compact(id)
			c.Call("context/undo", apptest.Object{"threadId": id})
		}, summarized(fourInputs(), madeSummary)},
		{"compaction after trim", func(c *apptest.Client, id string) {
			trimToTwoTurns(c, id)
			runTwoTurns(c, id)
			c.Compact(id)
		}, summarized(append(fourInputs(), "user: run: seq 300 302", "user: sixth"), againSummary)},
		{"trim after compaction", func(c *apptest.Client, id string) {
			c.Compact(id)
			runTwoTurns(c, id)
			c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 1})
		}, append(summarized(fourInputs(), madeSummary), twoMoreTurns()...)},
	}
}

func trimToTwoTurns(c *apptest.Client, id string) {
	c.T.Helper()
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2, "summary": earlySummary})
}

func runTwoTurns(c *apptest.Client, id string) {
	c.T.Helper()
	c.Turn(id, "run: seq 300 302")
	c.Turn(id, "sixth")
}

// TestReferenceInterchangeTrims continues trimmed and compacted threads of this server with the
// reference. Clients get all turns. If the thread was closed here, both models get the same prompt.
// Otherwise the reference sends plain, and the thread is unchanged here.
func TestReferenceInterchangeTrims(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for _, v := range trimCases() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, prompt := x.trimmed(v)
			c.Close()
			prompt = append(prompt, "user: next")
			require.Equal(t, prompt, x.continueThere(id, "next"))
			prompt = append(prompt, "assistant: answer to next", "user: more")
			require.Equal(t, prompt, x.continueHere(id, "more"))
			require.Equal(t, append(prompt, "assistant: answer to more", "user: last"), x.continueThere(id, "last"))
		})
		t.Run(v.name+", killed", func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, prompt := x.trimmed(v)
			c.Kill()
			require.Equal(t, append(v.plain, "user: next"), x.continueThere(id, "next"))
			got, warnings := x.turnHere(id, "more")
			require.Equal(t, append(prompt, "user: next", "assistant: answer to next", "user: more"), got)
			for _, warning := range warnings {
				require.Contains(t, warning, "the ordinals of", "it continues the ordinals of the last known line")
			}
		})
		t.Run(v.name+", killed and closed", func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c, id, prompt := x.trimmed(v)
			c.Kill()
			prompt = append(prompt, "user: next")
			require.Equal(t, prompt, x.continueHere(id, "next"))
			require.Equal(t, append(prompt, "assistant: answer to next", "user: more"), x.continueThere(id, "more"))
		})
	}
}

// trimmed returns a trimmed thread of this server, and its next prompt.
func (x *interchange) trimmed(v trimCase) (c *apptest.Client, id string, prompt []string) {
	x.t.Helper()
	c = apptest.StartServer(x.t, x.home, "-c", "compaction.keep_turns=1")
	c.Initialize()
	id = x.startThread(c)
	x.runFourTurns(c, id)
	v.trim(c, id)
	return c, id, fullTexts(x.t, apptest.PromptOf(c, id))
}

// continueHere runs a turn here and returns the prompt.
func (x *interchange) continueHere(id, text string) []string {
	x.t.Helper()
	prompt, warnings := x.turnHere(id, text)
	require.Empty(x.t, warnings)
	return prompt
}

func (x *interchange) turnHere(id, text string) (prompt, warnings []string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(x.t, "completed", c.Turn(id, text).Status)
	c.Close()
	return x.model.fullConversation(ourRequests), c.Warnings()
}

// continueThere runs a turn with the reference, after comparing the shown thread, and returns the
// prompt.
func (x *interchange) continueThere(id, text string) []string {
	x.t.Helper()
	shown := x.shownByOurs(id)
	c := x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	require.Equal(x.t, shown, c.CompareAnswer("thread/read", id).Thread)
	require.Equal(x.t, "completed", c.Turn(id, text).Status)
	c.Close()
	return x.model.fullConversation(theirRequests)
}

func (x *interchange) runFourTurns(c *apptest.Client, id string) {
	x.t.Helper()
	for _, text := range []string{"first", "run: seq 100 102", "third", "run: seq 200 202"} {
		require.Equal(x.t, "completed", c.Turn(id, text).Status)
	}
}

// TestReferenceInterchangeCompacts continues here what the reference compacted. Both models get the
// same prompt, and clients get the same items.
func TestReferenceInterchangeCompacts(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for name, v := range map[string]struct {
		start func(*interchange) *apptest.Client
		trim  func(c *apptest.Client, id string)
		// want is the expected prompt before the compaction.
		want []string
	}{
		"theirs":          {(*interchange).reference, func(*apptest.Client, string) {}, fourTurns()},
		"ours":            {(*interchange).ours, func(*apptest.Client, string) {}, fourTurns()},
		"trimmed by us":   {(*interchange).ours, trimToTwoTurns, append(summarized(nil, earlySummary), fourTurns()[6:]...)},
		"compacted by us": {(*interchange).ours, (*apptest.Client).Compact, summarized(fourInputs(), madeSummary)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newInterchange(t)
			c := v.start(x)
			id := x.startThread(c)
			x.runFourTurns(c, id)
			v.trim(c, id)
			c.Close()
			x.compactedThere(id)
			x.undoThere(id, v.want)
		})
	}
}

// compactedThere compacts a thread with the reference and continues it here.
func (x *interchange) compactedThere(id string) {
	x.t.Helper()
	c := x.reference()
	c.CompareAnswer("thread/resume", id)
	c.Compact(id)
	c.Turn(id, "next")
	prompt := x.model.fullConversation(theirRequests)
	require.Contains(x.t, prompt, "user: third")
	require.Contains(x.t, strings.Join(prompt, "\n"), "\n"+theirSummary)
	require.NotContains(x.t, prompt, "assistant: answer to third")
	shown := c.CompareAnswer("thread/resume", id).Thread
	c.Close()

	c = x.ours()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, "more")
	require.Equal(x.t, append(prompt, "assistant: answer to next", "user: more"), x.model.fullConversation(ourRequests))
	c.Close()
}

// theirSummary is the beginning of the answer to the reference's request for a summary.
const theirSummary = "answer to You are performing"

// undoThere undoes here a compaction of the reference, which also stores the summary as an answer.
func (x *interchange) undoThere(id string, want []string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Call("context/undo", apptest.Object{"threadId": id})
	all := fullTexts(x.t, apptest.PromptOf(c, id))
	require.Equal(x.t, want, all[:len(want)])
	require.Contains(x.t, all[len(want)], "assistant: "+theirSummary)
	require.Equal(x.t, []string{"user: next", "assistant: answer to next", "user: more", "assistant: answer to more"},
		all[len(want)+1:])
	c.Close()
}

// fullTexts returns the complete messages of a request.
func fullTexts(t *testing.T, messages []string) []string {
	t.Helper()
	var r modelRequest
	require.NoError(t, json.Unmarshal([]byte(`{"messages":[`+strings.Join(messages, ",")+`]}`), &r))
	return r.fullConversation()
}

// contents returns the texts of the messages of the last request on a path.
func (m *bilingual) contents(path string) (texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.lastRequests[path]
	for _, e := range append(r.Messages, r.Input...) {
		texts = append(texts, string(e.Content))
	}
	return texts
}

// fullConversation returns the last request on a path with complete messages.
func (m *bilingual) fullConversation(path string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lastRequests[path].fullConversation()
}

// fullConversation returns conversation with all lines of each message.
func (r modelRequest) fullConversation() (texts []string) {
	for _, e := range append(r.Messages, r.Input...) {
		if e.Role == "user" {
			texts = append(texts, e.paragraphs()...)
			continue
		}
		lines := e.lines()
		if _, rest, more := strings.Cut(string(e.Content), "\n"); more && len(lines) > 0 && e.Role != "tool" {
			lines[0] += "\n" + rest
		}
		texts = append(texts, lines...)
	}
	return texts
}
