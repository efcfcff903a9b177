//go:build reference

package interchange

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// pruned prunes a thread here and continues it with the reference. Both models must get the same
// prompt. Afterwards this server must have the added turn, and the pruned items must be restorable
// for both.
func (x *interchange) pruned() {
	c := x.ours()
	id := x.startThread(c)
	c.Turn(id, "first")
	c.Turn(id, "run: seq 100 105")
	c.Turn(id, "run: echo two")
	shown := c.CompareAnswer("thread/resume", id).Thread
	original := apptest.PromptOf(c, id)
	list := c.ContextList(id)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolOutput, "101"), "included": false})
	c.Call("context/pruneByIndices",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolCall, "echo two")})
	c.Call("context/pruneByIndices",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryUserMessage, "echo two")})
	pruned := c.ContextList(id)
	c.Close()

	c = x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread, "clients see all items")
	c.Turn(id, "third")
	prompt := []string{
		"user: first", "assistant: answer to first",
		"user: run: seq 100 105", "call call_1: seq 100 105", "output call_1: [output excluded from context: N tokens]",
		"assistant: done",
		"assistant: done",
		"user: third",
	}
	require.Equal(x.t, prompt, withoutCounts(x.model.conversation(theirRequests)))
	c.Close()

	c = x.ours()
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 4)
	after := c.ContextList(id)
	require.Equal(x.t, pruned.Items, after.Items[:len(pruned.Items)])
	require.Equal(x.t, pruned.Revision, after.Revision)
	c.Turn(id, "fourth")
	require.Equal(x.t, append(prompt, "assistant: answer to third", "user: fourth"),
		withoutCounts(x.model.conversation(ourRequests)))
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	require.Equal(x.t, original[1:], apptest.PromptOf(c, id)[1:len(original)],
		"except the system prompt: the other server wrote its skills into the home")
	c.Close()

	c = x.reference()
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 5)
	c.Turn(id, "fifth")
	require.Contains(x.t, x.model.conversation(theirRequests), "output call_1: 100\n101\n102\n103\n104\n105\n")
	require.Contains(x.t, x.model.conversation(theirRequests), "call call_2: echo two")
	c.Close()
}

func TestReferenceInterchangeAppendedLines(t *testing.T) { newInterchange(t).readOn() }

// readOn continues a thread of the reference here and prunes most of it. The reference remembers
// the position up to which it read the file. It must find the added lines, lose none of its own,
// and be able to fork.
func (x *interchange) readOn() {
	c := x.reference()
	id := x.startThread(c)
	c.Turn(id, "run: seq 10000 14000")
	c.Turn(id, "second")
	c.Close() // the outputs are longer than all later lines

	x.pruneOutputs(id, "third")
	prompt := x.forkThere(id, "fourth", "fifth")
	require.NotContains(x.t, strings.Join(prompt, ""), "10001")

	c = x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "sixth")
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	c.Close()
	prompt = x.forkThere(id, "seventh", "eighth")
	require.Contains(x.t, strings.Join(prompt, ""), "10001")

	x.pruneOutputs(id, "ninth")
	x.forkThere(id, "tenth", "eleventh")
	c = x.reference()
	require.Equal(x.t, 11, len(c.CompareAnswer("thread/read", id).Thread.Turns))
	c.Close()
}

// pruneOutputs runs a turn here and excludes all tool outputs.
func (x *interchange) pruneOutputs(id, turn string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, turn)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(c.ContextList(id), protocol.CategoryToolOutput, ""),
			"included": false})
	c.Close()
}

// forkThere forks a thread with the reference and runs two turns. Both servers must show all turns.
// It returns the last prompt of the reference.
func (x *interchange) forkThere(id, first, second string) []string {
	x.t.Helper()
	before := x.shownByOurs(id)
	c := x.reference()
	var fork apptest.ComparedAnswer
	require.NoError(x.t, json.Unmarshal(c.Call("thread/fork", apptest.Object{"threadId": id}), &fork))
	require.Equal(x.t, len(before.Turns), len(fork.Thread.Turns))
	require.Equal(x.t, before, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, first)
	c.Turn(id, second)
	prompt := x.model.conversation(theirRequests)
	c.Close()

	c = x.reference()
	shown := c.CompareAnswer("thread/read", id).Thread
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Close()
	require.Equal(x.t, len(before.Turns)+2, len(shown.Turns))
	require.Equal(x.t, before.Turns, shown.Turns[:len(before.Turns)])
	require.Equal(x.t, shown, x.shownByOurs(id))
	return prompt
}

func (x *interchange) shownByOurs(id string) apptest.ComparedThread {
	x.t.Helper()
	c := x.ours()
	shown := c.CompareAnswer("thread/read", id).Thread
	c.Close()
	require.Empty(x.t, c.Warnings())
	return shown
}

var placeholderCount = regexp.MustCompile(`context: \d+ tokens`)

// withoutCounts returns the texts with placeholders that have no sizes.
func withoutCounts(texts []string) (plain []string) {
	for _, text := range texts {
		plain = append(plain, placeholderCount.ReplaceAllString(text, "context: N tokens"))
	}
	return plain
}

// archive unarchives with each server a thread that the other one archived. The reference moves
// only the rollout; the backup is still found. A thread that the reference archived stays archived
// in its database until it unarchives it.
func (x *interchange) archive() {
	c := x.ours()
	id := x.startThread(c)
	c.Turn(id, "run: seq 100 105")
	c.Turn(id, "second")
	list := c.ContextList(id)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolOutput, "101"), "included": false})
	items := c.ContextList(id).Items
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(x.t, items, c.ContextList(id).Items)
	c.Close()

	c = x.reference()
	refusal := c.CallRejected("thread/resume", apptest.Object{"threadId": id}).Message
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 2)
	c.Turn(id, "third")
	c.Call("thread/archive", apptest.Object{"threadId": id})
	c.Close()

	c = x.ours()
	require.Contains(x.t, refusal, "is archived")
	require.Contains(x.t, c.CallRejected("thread/resume", apptest.Object{"threadId": id}).Message,
		"session "+id+" is archived")
	require.Equal(x.t, items, c.ContextList(id).Items[:len(items)])
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 3)
	require.Equal(x.t, items, c.ContextList(id).Items[:len(items)])
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	c.Turn(id, "fourth")
	c.Close()

	c = x.reference()
	require.Contains(x.t, c.CallRejected("thread/resume", apptest.Object{"threadId": id}).Message, "is archived")
	c.Close()
}
