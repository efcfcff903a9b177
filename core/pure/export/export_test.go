package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/export"
	"appserver/protocol"
)

const conversation = `{"id":"t-1","preview":"Fix <b>it</b>\nplease","cwd":"/work","createdAt":946684800,"updatedAt":946684860,"model":"some-model","name":null,
"contextTrimPoints":[{"id":"p","beforeEntryId":"i5","prunedMessageCount":2,"prunedTurnIds":[],"summary":"It was fixed.","reason":"trim"}],
"turns":[
{"id":"u-1","status":"completed","startedAt":946684800,"items":[
{"type":"userMessage","id":"i1","content":[{"type":"text","text":"Fix <b>it</b>\nplease"},{"type":"image","url":"data:,"}]},
{"type":"reasoning","id":"i2","summary":["Let me see."],"content":[]},
{"type":"commandExecution","id":"i3","command":"cat x","cwd":"/work","source":"agent","status":"completed","commandActions":[],"aggregatedOutput":"a ` + "```" + `\nb\u001b[31m\n","exitCode":1},
{"type":"fileChange","id":"i4","status":"completed","changes":[{"path":"x.go","kind":{"type":"add"},"diff":"+a\n"}]},
{"type":"agentMessage","id":"i5","text":"Done:\n\n- it is **fixed**\n"}]},
{"id":"u-2","status":"failed","startedAt":null,"error":{"message":"no such model"},"items":[{"type":"contextCompaction","id":"i6"},{"type":"somethingNew","id":"i7"}]}]}`

func thread(t testing.TB, text string) *protocol.Thread {
	var v protocol.Thread
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return &v
}

func TestMarkdown(t *testing.T) {
	want := strings.ReplaceAll(`# Fix <b>it</b>

- Thread: t-1
- Folder: /work
- Begun: 2000-01-01 00:00:00 UTC
- Last written: 2000-01-01 00:01:00 UTC
- Model: some-model

## Turn 1, 2000-01-01 00:00:00 UTC

**User**

> Fix <b>it</b>
> please
> 
> [image]

**Reasoning**

> Let me see.

**Command, exit code 1**

''''console
$ cat x
a '''
b[31m
''''

**Change of x.go**

'''diff
+a
'''

**Agent**

Done:

- it is **fixed**

---

*Earlier messages: 2 taken out of the context*

> It was fixed.

## Turn 2, failed

**Context**

> The context was compacted.

**Other**

'''json
{"type":"somethingNew","id":"i7"}
'''

**Error**

> no such model
`, "'", "`")
	require.Equal(t, want, string(export.Markdown(thread(t, conversation))))
}

func TestHTML(t *testing.T) {
	page := export.HTML(thread(t, conversation))
	for _, want := range []string{
		"<title>Fix &lt;b&gt;it&lt;/b&gt;</title>", `<section class="User"><h3>User</h3><p>Fix &lt;b&gt;it`,
		`<section class="Command">`,
		"<pre>$ cat x\na ```\nb[31m\n</pre>", "<hr><h3>Earlier messages: 2 taken out of the context</h3><p>It was fixed.</p>",
	} {
		require.Contains(t, string(page), want)
	}
}

func TestAThreadWithoutTurns(t *testing.T) {
	empty := thread(t, `{"id":"t-1"}`)
	require.Contains(t, string(export.Markdown(empty)), "# Conversation t-1\n")
	page := export.HTML(empty)
	require.Contains(t, string(page), "<h1>Conversation t-1</h1>")
}

// FuzzOutput has a command put out anything: it stays within its block, and does nothing to
// a page or a terminal.
func FuzzOutput(f *testing.F) {
	for _, text := range []string{"", "```", "`````\n# x", "</pre><script>alert(1)</script>", "\x1b]0;x\a", "\u202Eabc",
		"\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		item := &protocol.CommandExecutionItem{ID: "i", Command: "x", Status: protocol.CommandCompleted,
			AggregatedOutput: &text}
		v := &protocol.Thread{ID: "t-1",
			Turns: []protocol.Turn{{Status: protocol.TurnCompleted, Items: []protocol.ThreadItem{{ThreadItemVariant: item}}}}}
		lines := strings.Split(string(export.Markdown(v)), "\n")
		begin := -1
		for i, line := range lines {
			if fence, found := strings.CutSuffix(line, "console"); found && strings.Trim(fence, "`") == "" && begin < 0 {
				begin = i
				require.Equal(t, fence, lines[len(lines)-2], "the block ends where the document does")
				require.NotContains(t, lines[i+1:len(lines)-2], fence)
			}
		}
		require.Positive(t, begin)
		page := export.HTML(v)
		require.Equal(t, 1, strings.Count(string(page), "<pre>"))
		require.NotContains(t, string(page), "<script")
		require.NotContains(t, string(page), "\x1b")
	})
}
