package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// reminders returns the messages of a request that contain memories.
func reminders(messages []string) (found []string) {
	for _, m := range messages {
		text, ok := strings.CutPrefix(m, "user: ")
		if ok && strings.HasPrefix(text, "[memory:summary v1 |") { // the question is in the same message
			found = append(found, strings.TrimSuffix(text, "\n\n"+apptest.LastParagraph(text)))
		}
	}
	return found
}

// runTurnsAfterFact runs a turn with a fact, and 50 turns after it.
func runTurnsAfterFact(c *apptest.Client, thread string) {
	c.T.Helper()
	require.Equal(c.T, "completed",
		c.Turn(thread, "For the dashboards: the metrics endpoint listens on port 9137.").Status)
	c.RunTurns(thread, 50)
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 50})
}

// TestMemoryRemindsOfTrimmedFact asks for a fact that was trimmed 50 turns ago. The next request
// has it. docs/transcripts/memory.txt shows the conversation; -update rewrites it.
func TestMemoryRemindsOfTrimmedFact(t *testing.T) {
	apptest.OnBothWires(t, testMemoryRemindsOfTrimmedFact)
}

func testMemoryRemindsOfTrimmedFact(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, countingAnswers(60)...)
	home := p.Home(t)
	r := &apptest.Recorder{T: t, Home: home}
	cmd := r.Command(home)
	cmd.Args = append(cmd.Args, apptest.MemoryFlags...)
	cmd.Args = append(cmd.Args, withoutCheckpoints...)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": "/", "approvalPolicy": "never"})
	c.OnLine = func(direction, line string) {
		if !strings.Contains(line, "question") && !strings.Contains(line, `"status":"inProgress"`) &&
			!strings.Contains(line, "ContextItems") {
			r.Line(direction, line)
		}
	}
	r.Heading("A fact, 50 turns about something else, and a trim that removes the fact from the context.")
	runTurnsAfterFact(c, thread)
	c.UntilMethod("memory/updated")
	r.Heading("A question about the fact in other words.")
	conversation, _ := p.NextRequest(c, thread, "Which ports do the metrics use?")
	found := reminders(conversation)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "9137")
	require.LessOrEqual(t, utf8.RuneCountInString(found[0]), 500)
	last := len(conversation) - 1
	require.Equal(t, "user: "+found[0]+"\n\nWhich ports do the metrics use?", conversation[last],
		"the memory precedes the question")
	r.Request("The next request ends with", conversation[last:])

	r.Heading("The reminder is a context item and can be excluded.")
	list := c.ContextList(thread)
	reminder := len(list.Items) - 3
	require.Equal(t, protocol.CategorySummary, list.Items[reminder].Category)
	r.List(protocol.ContextGetItemsResponse{Items: list.Items[reminder:]})
	c.Call("context/setInclusion",
		apptest.Object{"threadId": thread, "ids": []string{list.Items[reminder].ID}, "included": false})
	conversation, _ = p.NextRequest(c, thread, "And which ports do the metrics use now?")
	require.Empty(t, reminders(conversation))

	r.Heading("Another thread in the same folder gets the reminder as well.")
	other := c.StartThread(apptest.Object{"cwd": "/", "approvalPolicy": "never"})
	conversation, _ = p.NextRequest(c, other, "Where is the metrics endpoint?")
	require.Len(t, reminders(conversation), 1)
	r.Heading("A forgotten memory is deleted.")
	var page protocol.MemoryListResponse
	require.NoError(t, json.Unmarshal(c.Call("memory/list", apptest.Object{}), &page))
	require.Len(t, page.Data, 1)
	c.Call("memory/forget", apptest.Object{"ids": []string{page.Data[0].ID}})
	conversation, _ = p.NextRequest(c, c.StartThread(apptest.Object{"cwd": "/"}), "Where is the metrics endpoint?")
	require.Empty(t, reminders(conversation))
	c.Close()
	r.Compare(apptest.Root("docs/transcripts/memory.txt"))
	files, err := filepath.Glob(filepath.Join(home, "memory*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotRegexp(t, "[^0-9a-f-]0?9137", string(text), file) // a random id can contain the digits
	}
}

// TestMemoryIsOffByDefault requires that no request and no file contains a memory.
func TestMemoryIsOffByDefault(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(60)...)
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	runTurnsAfterFact(c, thread)
	_, _ = p.NextRequest(c, thread, "Which ports do the metrics use?")
	c.Call("memory/status", apptest.Object{})
	c.Close()
	for _, request := range p.Requests() {
		require.NotContains(t, request.Body, "memory:summary")
		require.NotContains(t, request.Body, `"recall"`)
	}
	files, err := filepath.Glob(filepath.Join(home, "memory*"))
	require.NoError(t, err)
	require.Empty(t, files)
}

// TestMemoryBelongsToRepository shares memories with a linked worktree, but not with another
// folder.
func TestMemoryBelongsToRepository(t *testing.T) {
	sample.Long(t)
	apptest.OnBothWires(t, testMemoryBelongsToRepository)
}

func testMemoryBelongsToRepository(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	p := on.NewProvider(t, countingAnswers(60)...)
	home, repo := p.Home(t), t.TempDir()
	linked := filepath.Join(t.TempDir(), "linked")
	for _, args := range [][]string{{"init", "-q"},
		{"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"},
		{"worktree", "add", "-q", linked}} {
		out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	require.NoError(t, os.Mkdir(filepath.Join(repo, "sub"), 0o755))
	c := apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	runTurnsAfterFact(c, c.StartThread(apptest.Object{"cwd": filepath.Join(repo, "sub"), "approvalPolicy": "never"}))
	c.UntilMethod("memory/updated")
	for dir, reminded := range map[string]int{linked: 1, repo: 1, t.TempDir(): 0} {
		conversation, _ := p.NextRequest(c, c.StartThread(apptest.Object{"cwd": dir}), "Which ports do the metrics use?")
		require.Len(t, reminders(conversation), reminded, dir)
	}
	c.Close()
}

// TestDamagedMemoryIsRebuilt damages the database and its log. The database is rebuilt from the
// readable lines of the log, and the damaged file is kept.
func TestDamagedMemoryIsRebuilt(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	project := t.TempDir()
	p := apptest.NewProvider(t, countingAnswers(60)...)
	home := p.Home(t)
	c := apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	runTurnsAfterFact(c, c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "never"}))
	c.UntilMethod("memory/updated")
	c.Kill()
	require.NoError(t, os.WriteFile(filepath.Join(home, "memory.sqlite"), []byte(strings.Repeat("no database ", 1000)),
		0o600))
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(home, "memory.sqlite"+suffix))
	}
	lines, err := os.ReadFile(filepath.Join(home, "memory.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(home, "memory.jsonl"),
		append([]byte("no line\n"), append(lines, `{"torn`...)...), 0o600))

	c = apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	conversation, _ := p.NextRequest(c, c.StartThread(apptest.Object{"cwd": project}), "Which ports do the metrics use?")
	require.Len(t, reminders(conversation), 1)
	c.Close()
	kept, err := filepath.Glob(filepath.Join(home, "memory.sqlite*damaged*"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
}

// TestMemoryStoresNoSecrets redacts secrets in texts and truncated titles. Reading the prompt
// before an edit does not change the stored memory.
func TestMemoryStoresNoSecrets(t *testing.T) {
	t.Parallel()
	home, _ := homeWith(t, "model = \"x\"\nmodel_provider = \"offline\"\n")
	c := apptest.StartServer(t, home, append([]string{"-c", "memory.recall_tool=true"}, apptest.MemoryFlags...)...)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"})
	for _, before := range []int{0, 4, 40, 55, 60, 70, 400} {
		c.Turn(thread, strings.Repeat("ab ", before/3)+"ghp_"+strings.Repeat("aB3dE6", 6)+" is what the job takes")
	}
	c.Turn(thread, "And now?")
	require.Contains(t, string(c.Call("context/getPrompt", apptest.Object{"threadId": thread})), `"name":"recall"`)
	c.Call("thread/context/trim", apptest.Object{"threadId": thread, "keepLastNTurns": 1})
	c.UntilMethod("memory/updated")
	c.Close()
	files, err := filepath.Glob(filepath.Join(home, "memory*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(text), "ghp_", file)
	}
}

// TestShutdownClosesMemory requires that only the database is left, and that it is complete.
func TestShutdownClosesMemory(t *testing.T) {
	t.Parallel()
	project := t.TempDir()
	home, _ := homeWith(t, "model = \"x\"\nmodel_provider = \"offline\"\n")
	c := apptest.StartServer(t, home, apptest.MemoryFlags...)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "never"})
	c.Turn(thread, "For the dashboards: the metrics endpoint listens on port 9137.")
	c.Call("thread/context/trim", apptest.Object{"threadId": thread})
	c.UntilMethod("memory/updated")
	require.Contains(t, string(c.Call("memory/search", apptest.Object{"query": "metrics", "repoKey": project})), "9137")
	c.Close()
	files, err := filepath.Glob(filepath.Join(home, "memory*"))
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	require.Equal(t, []string{"memory.jsonl", "memory.jsonl.lock", "memory.sqlite"}, files)
}
