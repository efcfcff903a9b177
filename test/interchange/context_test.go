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

// pruned takes items out of a thread of ours, which the reference implementation then
// goes on with: its model is sent what ours would be. What it adds is ours afterwards,
// and what was taken out can be brought back, for both.
func (x *interchange) pruned() {
	c := x.ours()
	id := x.begin(c)
	c.Turn(id, "first")
	c.Turn(id, "run: seq 100 105")
	c.Turn(id, "run: echo two")
	shown := c.CompareAnswer("thread/resume", id).Thread
	whole := apptest.PromptOf(c, id)
	list := c.ContextList(id)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolOutput, "101"), "included": false})
	c.Call("context/pruneByIndices",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolCall, "echo two")})
	c.Call("context/pruneByIndices",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryUserMessage, "echo two")})
	taken := c.ContextList(id)
	c.Close()

	c = x.reference()
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread, "people see all of it")
	c.Turn(id, "third")
	told := []string{
		"user: first", "assistant: answer to first",
		"user: run: seq 100 105", "call call_1: seq 100 105", "output call_1: [output excluded from context: N tokens]",
		"assistant: done",
		"assistant: done",
		"user: third",
	}
	require.Equal(x.t, told, withoutCounts(x.model.told(theirRequests)))
	c.Close()

	c = x.ours()
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 4)
	after := c.ContextList(id)
	require.Equal(x.t, taken.Items, after.Items[:len(taken.Items)])
	require.Equal(x.t, taken.Revision, after.Revision)
	c.Turn(id, "fourth")
	require.Equal(x.t, append(told, "assistant: answer to third", "user: fourth"),
		withoutCounts(x.model.told(ourRequests)))
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	require.Equal(x.t, whole[1:], apptest.PromptOf(c, id)[1:len(whole)],
		"but for the system prompt: the other server has put skills of its own into the home")
	c.Close()

	c = x.reference()
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 5)
	c.Turn(id, "fifth")
	require.Contains(x.t, x.model.told(theirRequests), "output call_1: 100\n101\n102\n103\n104\n105\n")
	require.Contains(x.t, x.model.told(theirRequests), "call call_2: echo two")
	c.Close()
}

func TestReferenceInterchangeReadsOn(t *testing.T) { newInterchange(t).readOn() }

// readOn has the reference implementation remember how far it has read a thread that we
// then go on with and take most of out: it must find what we added, lose nothing of
// what it adds itself, and be able to fork.
func (x *interchange) readOn() {
	c := x.reference()
	id := x.begin(c)
	c.Turn(id, "run: seq 10000 14000")
	c.Turn(id, "second")
	c.Close() // the outputs are longer than all that follows

	x.takeOut(id, "third")
	told := x.goOn(id, "fourth", "fifth")
	require.NotContains(x.t, strings.Join(told, ""), "10001")

	c = x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, "sixth")
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	c.Close()
	told = x.goOn(id, "seventh", "eighth")
	require.Contains(x.t, strings.Join(told, ""), "10001")

	x.takeOut(id, "ninth")
	x.goOn(id, "tenth", "eleventh")
	c = x.reference()
	require.Equal(x.t, 11, len(c.CompareAnswer("thread/read", id).Thread.Turns))
	c.Close()
}

// takeOut has us take a turn, and take the outputs of tools out.
func (x *interchange) takeOut(id, turn string) {
	x.t.Helper()
	c := x.ours()
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.Turn(id, turn)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(c.ContextList(id), protocol.CategoryToolOutput, ""),
			"included": false})
	c.Close()
}

// goOn has the reference implementation fork a thread and take two turns, both of
// which it and we must show afterwards with all the others. It returns what its model
// was told in the last.
func (x *interchange) goOn(id, first, second string) []string {
	x.t.Helper()
	before := x.shownByOurs(id)
	c := x.reference()
	var fork apptest.ComparedAnswer
	require.NoError(x.t, json.Unmarshal(c.Call("thread/fork", apptest.Object{"threadId": id}), &fork))
	require.Equal(x.t, len(before.Turns), len(fork.Thread.Turns))
	require.Equal(x.t, before, c.CompareAnswer("thread/resume", id).Thread)
	c.Turn(id, first)
	c.Turn(id, second)
	told := x.model.told(theirRequests)
	c.Close()

	c = x.reference()
	shown := c.CompareAnswer("thread/read", id).Thread
	require.Equal(x.t, shown, c.CompareAnswer("thread/resume", id).Thread)
	c.Close()
	require.Equal(x.t, len(before.Turns)+2, len(shown.Turns))
	require.Equal(x.t, before.Turns, shown.Turns[:len(before.Turns)])
	require.Equal(x.t, shown, x.shownByOurs(id))
	return told
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

// withoutCounts are texts whose placeholders do not tell how large they were.
func withoutCounts(texts []string) (plain []string) {
	for _, text := range texts {
		plain = append(plain, placeholderCount.ReplaceAllString(text, "context: N tokens"))
	}
	return plain
}

// archive has each server bring back what the other archived. The reference implementation
// moves the rollout alone; what was taken out is found nevertheless. What it has archived
// itself it takes for archived until it unarchives it, as it remembers that in a database.
func (x *interchange) archive() {
	c := x.ours()
	id := x.begin(c)
	c.Turn(id, "run: seq 100 105")
	c.Turn(id, "second")
	list := c.ContextList(id)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": id, "ids": apptest.FindItems(list, protocol.CategoryToolOutput, "101"), "included": false})
	taken := c.ContextList(id).Items
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(x.t, taken, c.ContextList(id).Items)
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
	require.Equal(x.t, taken, c.ContextList(id).Items[:len(taken)])
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.Len(x.t, c.CompareAnswer("thread/resume", id).Thread.Turns, 3)
	require.Equal(x.t, taken, c.ContextList(id).Items[:len(taken)])
	c.Call("context/restore", apptest.Object{"threadId": id, "from": "backup"})
	c.Turn(id, "fourth")
	c.Close()

	c = x.reference()
	require.Contains(x.t, c.CallRejected("thread/resume", apptest.Object{"threadId": id}).Message, "is archived")
	c.Close()
}
