package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// revertedThread is the thread of testdata/reverted, forkOfReverted a fork of it: rollouts of
// the reference implementation, with their long texts cut. Of its turns 0, 1 and 2 the last was
// taken back, then "s1 two" of those that followed; the fork is of the first two.
const (
	revertedThread = "01a1ffe4-5f12-79b0-b231-ebaddab90e3d"
	forkOfReverted = "01a1ffe4-6669-7641-bc1e-2ff31b0d9850"
)

func putReverted(t *testing.T, home string) {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/21")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	paths, err := filepath.Glob("testdata/reverted/*.jsonl")
	require.NoError(t, err)
	require.Len(t, paths, 4)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), text, 0o600))
	}
}

// TestBinaryGoesOnWithARevertedThread lists, searches, reads, resumes, names, forks, archives
// and deletes a thread of three files.
func TestBinaryGoesOnWithARevertedThread(t *testing.T) {
	onBothWires(t, binaryGoesOnWithARevertedThread)
}

func binaryGoesOnWithARevertedThread(t *testing.T, on wireAPI) {
	t.Parallel()
	p := on.provider(t, counting(2)...)
	home := p.home(t)
	putReverted(t, home)
	c := startServer(t, home)
	c.initialize()
	list := object{"modelProviders": []string{}}
	previews := func() []gjson.Result {
		return gjson.GetBytes(c.call("thread/list", list), "data.#.preview").Array()
	}
	require.Len(t, previews(), 2, "from the files")
	awaitIndex(c)
	for _, preview := range previews() {
		require.Equal(t, "[[say:a0]] turn 0", preview.Str, "from the index")
	}
	found := func(term string) (ids []string) {
		for _, id := range gjson.GetBytes(c.call("thread/search", object{"searchTerm": term}), "data.#.thread.id").Array() {
			ids = append(ids, id.Str)
		}
		return ids
	}
	require.ElementsMatch(t, []string{revertedThread, forkOfReverted}, found("turn 1"), "what stands in the file before is found")
	require.Equal(t, []string{revertedThread}, found("s2 one"))
	require.Empty(t, found("turn 2"), "what was taken back is not")

	want := []string{"[[say:a0]] turn 0", "a0", "[[say:a1]] turn 1", "a1", "[[say:x]] s1 one", "x", "[[say:x]] s2 one", "x"}
	messages := func(id string) []string {
		return messagesOf(gjson.GetBytes(c.call("thread/read", object{"threadId": id, "includeTurns": true}), "thread.turns").Array())
	}
	require.Equal(t, want, messages(revertedThread))
	require.Equal(t, []string{"[[say:a0]] turn 0", "a0", "[[say:a1]] turn 1", "a1", "[[say:x]] forked", "x"}, messages(forkOfReverted))
	c.call("thread/resume", object{"threadId": revertedThread, "model": "test", "modelProvider": "test"})
	c.call("thread/name/set", object{"threadId": revertedThread, "name": "named"})
	require.Equal(t, "completed", c.turn(revertedThread, "more").Status)
	next := gjson.GetBytes(c.call("thread/fork", object{"threadId": revertedThread}), "thread.id").Str
	require.Equal(t, messages(revertedThread), messages(next))
	require.Equal(t, want, messages(next)[:len(want)])

	require.Contains(t, c.refused("thread/delete", object{"threadId": revertedThread}).Message, "that of thread "+forkOfReverted)
	c.call("thread/delete", object{"threadId": forkOfReverted})
	c.call("thread/archive", object{"threadId": revertedThread})
	list["archived"] = true
	require.Len(t, previews(), 1)
	c.call("thread/delete", object{"threadId": revertedThread})
	require.Empty(t, previews())
	list["archived"] = false
	require.Len(t, previews(), 1, "this server's fork has all of its lines")
	require.Equal(t, want, messages(next)[:len(want)])
	c.close()
}
