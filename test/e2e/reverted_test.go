package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// revertedThread is the thread of testdata/reverted, and forkOfReverted is a fork of it. Both are
// rollouts of the reference implementation with truncated texts. Of turns 0, 1 and 2 the last was
// reverted, then "s1 two" of the following turns. The fork has the first two turns.
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

// TestRevertedReferenceThreadCanBeUsed lists, searches, reads, resumes, renames, forks, archives
// and deletes a thread of three files.
func TestRevertedReferenceThreadCanBeUsed(t *testing.T) {
	apptest.OnBothWires(t, testRevertedReferenceThreadCanBeUsed)
}

func testRevertedReferenceThreadCanBeUsed(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, countingAnswers(2)...)
	home := p.Home(t)
	putReverted(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	list := apptest.Object{"modelProviders": []string{}}
	previews := func() []gjson.Result {
		return gjson.GetBytes(c.Call("thread/list", list), "data.#.preview").Array()
	}
	require.Len(t, previews(), 2, "from the files")
	apptest.AwaitIndex(c)
	for _, preview := range previews() {
		require.Equal(t, "[[say:a0]] turn 0", preview.Str, "from the index")
	}
	found := func(term string) (ids []string) {
		for _, id := range gjson.GetBytes(c.Call("thread/search", apptest.Object{"searchTerm": term}),
			"data.#.thread.id").Array() {
			ids = append(ids, id.Str)
		}
		return ids
	}
	require.ElementsMatch(t, []string{revertedThread, forkOfReverted}, found("turn 1"),
		"text of earlier files is found")
	require.Equal(t, []string{revertedThread}, found("s2 one"))
	require.Empty(t, found("turn 2"), "reverted turns are not found")

	want := []string{"[[say:a0]] turn 0", "a0", "[[say:a1]] turn 1", "a1", "[[say:x]] s1 one", "x", "[[say:x]] s2 one",
		"x"}
	messages := func(id string) []string {
		return messagesOf(gjson.GetBytes(c.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true}),
			"thread.turns").Array())
	}
	require.Equal(t, want, messages(revertedThread))
	require.Equal(t, []string{"[[say:a0]] turn 0", "a0", "[[say:a1]] turn 1", "a1", "[[say:x]] forked", "x"},
		messages(forkOfReverted))
	c.Call("thread/resume", apptest.Object{"threadId": revertedThread, "model": "test", "modelProvider": "test"})
	c.Call("thread/name/set", apptest.Object{"threadId": revertedThread, "name": "named"})
	require.Equal(t, "completed", c.Turn(revertedThread, "more").Status)
	next := gjson.GetBytes(c.Call("thread/fork", apptest.Object{"threadId": revertedThread}), "thread.id").Str
	require.Equal(t, messages(revertedThread), messages(next))
	require.Equal(t, want, messages(next)[:len(want)])

	if !apptest.UsesDatabase() { // where no thread needs another one
		require.Contains(t, c.CallRejected("thread/delete", apptest.Object{"threadId": revertedThread}).Message,
			"that of thread "+forkOfReverted)
	}
	c.Call("thread/delete", apptest.Object{"threadId": forkOfReverted})
	c.Call("thread/archive", apptest.Object{"threadId": revertedThread})
	list["archived"] = true
	require.Len(t, previews(), 1)
	c.Call("thread/delete", apptest.Object{"threadId": revertedThread})
	require.Empty(t, previews())
	list["archived"] = false
	require.Len(t, previews(), 1, "a fork has all its lines")
	require.Equal(t, want, messages(next)[:len(want)])
	c.Close()
}
