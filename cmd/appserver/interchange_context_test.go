//go:build reference

package main

import (
	"regexp"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// pruned takes items out of a thread of ours, which the reference implementation then
// goes on with: its model is sent what ours would be. What it adds is ours afterwards,
// and what was taken out can be brought back, for both.
func (x *interchange) pruned() {
	c := x.ours()
	id := x.begin(c)
	c.turn(id, "first")
	c.turn(id, "run: seq 100 105")
	c.turn(id, "run: echo two")
	shown := c.answer("thread/resume", id).Thread
	whole := promptOf(c, id)
	list := c.contextList(id)
	c.call("context/setInclusion", object{"threadId": id, "ids": itemsLike(list, protocol.CategoryToolOutput, "101"), "included": false})
	c.call("context/pruneByIndices", object{"threadId": id, "ids": itemsLike(list, protocol.CategoryToolCall, "echo two")})
	c.call("context/pruneByIndices", object{"threadId": id, "ids": itemsLike(list, protocol.CategoryUserMessage, "echo two")})
	taken := c.contextList(id)
	c.close()

	c = x.reference()
	require.Equal(x.t, shown, c.answer("thread/resume", id).Thread, "people see all of it")
	c.turn(id, "third")
	told := []string{
		"user: first", "assistant: answer to first",
		"user: run: seq 100 105", "call call_1: seq 100 105", "output call_1: [output excluded from context: N tokens]", "assistant: done",
		"assistant: done",
		"user: third",
	}
	require.Equal(x.t, told, withoutCounts(x.model.told(responsesPath)))
	c.close()

	c = x.ours()
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 4)
	after := c.contextList(id)
	require.Equal(x.t, taken.Items, after.Items[:len(taken.Items)])
	require.Equal(x.t, taken.Revision, after.Revision)
	c.turn(id, "fourth")
	require.Equal(x.t, append(told, "assistant: answer to third", "user: fourth"), withoutCounts(x.model.told(chatPath)))
	c.call("context/restore", object{"threadId": id, "from": "backup"})
	require.Equal(x.t, whole, promptOf(c, id)[:len(whole)])
	c.close()

	c = x.reference()
	require.Len(x.t, c.answer("thread/resume", id).Thread.Turns, 5)
	c.turn(id, "fifth")
	require.Contains(x.t, x.model.told(responsesPath), "output call_1: 100\n101\n102\n103\n104\n105\n")
	require.Contains(x.t, x.model.told(responsesPath), "call call_2: echo two")
	c.close()
}

var placeholderCount = regexp.MustCompile(`context: \d+ tokens`)

// withoutCounts are texts whose placeholders do not tell how large they were.
func withoutCounts(texts []string) (plain []string) {
	for _, text := range texts {
		plain = append(plain, placeholderCount.ReplaceAllString(text, "context: N tokens"))
	}
	return plain
}
