package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// damagedHome returns a home with LegacyRollout with an invalid line and a torn tail.
func damagedHome(t *testing.T) (home, path, text string) {
	t.Helper()
	lines := strings.SplitAfter(apptest.LegacyRollout, "\n")
	lines[4] = "\x1b[2J" + lines[4]
	text = strings.Join(lines, "") + `{"timestamp":"2025-10`
	home = t.TempDir()
	return home, apptest.PutRollout(t, home, apptest.LegacyID, text), text
}

func TestRolloutVerifyReportsDamage(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, path, text := damagedHome(t)
	sound := apptest.PutRollout(t, home, apptest.UnknownThreadID,
		strings.ReplaceAll(apptest.LegacyRollout, apptest.LegacyID, apptest.UnknownThreadID))
	loop := filepath.Join(home, "archived_sessions", "rollout-2025-10-01T12-00-00-"+apptest.LegacyID+".jsonl")
	require.NoError(t, os.Mkdir(filepath.Dir(loop), 0o700))
	require.NoError(t, os.Symlink(loop, loop))
	for _, beside := range []string{"session_index.jsonl", "history.jsonl", "memory.jsonl"} {
		require.NoError(t, os.WriteFile(filepath.Join(home, beside), []byte("{}\n"), 0o600))
	}
	status, out, errs := apptest.Execute(t, home, "rollout", "verify", home)
	require.Equal(t, 1, status)
	require.Equal(t, "appserver: rollout verify: problems in 2 of 3 rollouts\n", errs)
	require.Contains(t, out, path+
		": 2 problems, 11 readable lines\n  line 5: damagedLine: not JSON: the line is skipped (repair fixes this)\n  line 13: tornTail: ")
	require.Contains(t, out, sound+": no problems, 12 lines\n")
	require.Contains(t, out, "the file: linkLoop: cannot open "+loop)
	require.NotContains(t, out, "\x1b")
	status, out, errs = apptest.Execute(t, home, "rollout", "verify", "--json", sound)
	require.Zero(t, status, errs)
	require.JSONEq(t, `{"rollouts":[{"path":"`+sound+`","threadId":"`+apptest.UnknownThreadID+`","size":`+
		jsonOf(t, len(apptest.LegacyRollout))+`,"lines":12,"findings":[]}]}`, out)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(got), "verify changed the file")
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// TestRolloutRepairKeepsThread compares the thread that a server reads before and after the repair.
func TestRolloutRepairKeepsThread(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, path, text := damagedHome(t)
	before, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID, "--json")
	status, out, errs := apptest.Execute(t, home, "rollout", "repair", path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "  repaired: "+path+"; original: "+path+".orig\n  unreadable lines: "+path+".lost\n")
	backup, err := os.ReadFile(path + ".orig")
	require.NoError(t, err)
	require.Equal(t, text, string(backup))
	status, out, errs = apptest.Execute(t, home, "rollout", "verify", path)
	require.Zero(t, status, errs)
	require.Equal(t, path+": no problems, 12 lines\n", out)
	after, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID, "--json")
	require.Equal(t, before, after)
	status, out, errs = apptest.Execute(t, home, "rollout", "repair", "--json", path)
	require.Zero(t, status, errs)
	require.Contains(t, out, `"kept": ""`)
}

func TestRolloutRepairRejectsEmptyFile(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	status, out, errs := apptest.Execute(t, home, "rollout", "repair", path)
	require.Equal(t, 1, status)
	require.Contains(t, out, "the file has no lines: remove it, or put a copy back\n  nothing was changed")
	require.Equal(t, "appserver: rollout repair: 1 of 1 problem cannot be repaired: see above\n", errs)
}

// TestRolloutRepairRejectsOpenThreads requires the lock of the home with the file, not of the
// configured one.
func TestRolloutRepairRejectsOpenThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, id, path := newStoredThread(t)
	c := apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	appendTo(c, path, "?\n")
	status, _, errs := apptest.Execute(t, t.TempDir(), "rollout", "repair", path)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "thread "+id+" already has an active writer")
	c.Close()
}

func appendTo(c *apptest.Client, path, text string) {
	c.T.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(c.T, err)
	_, err = f.WriteString(text)
	require.NoError(c.T, err)
	require.NoError(c.T, f.Close())
}

// TestRolloutRedactRemovesSecrets redacts a secret in an excluded item, which only the backup has.
func TestRolloutRedactRemovesSecrets(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "history.redactSecrets=false")
	id := c.StartTrusted()
	c.Turn(id, "run: echo "+githubToken+" bluebird")
	c.Turn(id, "hello")
	items := c.ContextList(id).Items
	output := items[slices.IndexFunc(items,
		func(i protocol.ContextItem) bool { return i.Category == protocol.CategoryToolOutput })]
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{output.ID}, "included": false})
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "about " + githubToken})
	path := c.ReadThread(id).Path
	before := c.ReadThread(id)
	for len(gjson.GetBytes(c.Call("thread/search", apptest.Object{"searchTerm": "bluebird"}), "data").Array()) == 0 {
		continue
	}
	c.Close()
	require.NoError(t, os.WriteFile(path+".orig", []byte("what a repair kept: "+githubToken+"\n"), 0o600))
	const everywhere = 5 // rollout, backup, copy, name and index
	require.Len(t, filesWith(t, home, githubToken), everywhere)

	status, _, errs := apptest.Execute(t, home, "rollout", "redact", path)
	require.Equal(t, 2, status)
	require.Contains(t, errs,
		"No copy is kept: this cannot be undone.\nNothing was changed, because there is no terminal for the confirmation: add --yes to confirm")
	status, out, errs := apptest.Execute(t, home, "rollout", "redact", "--dry-run", path)
	require.Zero(t, status, errs)
	require.Contains(t, out, "would be redacted")
	require.Len(t, filesWith(t, home, githubToken), everywhere)
	other := apptest.StartOffline(t, home) // has the index open
	other.Call("thread/search", apptest.Object{"searchTerm": "bluebird"})
	status, out, errs = apptest.Execute(t, home, "rollout", "redact", "--yes", "-c",
		`history.sensitivePatterns=["bluebird"]`, path)
	require.Zero(t, status, errs)
	require.Regexp(t, `^`+regexp.QuoteMeta(path)+`: \d+ lines redacted\n  `+regexp.QuoteMeta(path)+
		`\.orig: 1 line redacted\n  1 name of the thread redacted\n$`, out)
	require.Empty(t, filesWith(t, home, githubToken))
	require.Empty(t, filesWith(t, home, "bluebird"))
	for _, term := range []string{"bluebird", "[redacted]"} {
		found := gjson.GetBytes(other.Call("thread/search", apptest.Object{"searchTerm": term}), "data").Array()
		require.Equal(t, term == "[redacted]", len(found) > 0, term)
	}
	other.Close()

	c = apptest.StartOffline(t, home)
	after := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Empty(t, c.Warnings())
	require.Len(t, after.Turns, len(before.Turns))
	again := c.ContextList(id).Items
	require.Len(t, again, len(items))
	for i, item := range again {
		require.Equal(t, items[i].ID, item.ID)
		require.Equal(t, item.ID != output.ID, item.Included)
	}
	c.Close()
	status, out, errs = apptest.Execute(t, home, "rollout", "redact", "--json", path)
	require.Zero(t, status, errs)
	require.Contains(t, out, `"lines": 0`)
}

func TestRolloutUsage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	status, out, _ := apptest.Execute(t, home, "rollout", "--help")
	require.Zero(t, status)
	require.Contains(t, out, "verify PATH...")
	for _, args := range [][]string{{"rollout", "mend"}, {"rollout", "verify"}, {"rollout", "verify", "--fast", "x"},
		{"rollout", "verify", "--yes", "x"}} {
		status, _, errs := apptest.Execute(t, home, args...)
		require.Equal(t, 2, status, args)
		require.NotEmpty(t, errs)
	}
}

// TestRolloutCommandsNameTheDatabase runs commands on files while the threads are in a database.
func TestRolloutCommandsNameTheDatabase(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"verify": "store export", "repair": "store export",
		"redact --yes -c history.redactSecrets=true": "store redact"} {
		home, path := apptest.LegacyHome(t)
		words := append([]string{"-c", "store.kind=postgres", "rollout"}, append(strings.Fields(args), path)...)
		status, _, errs := apptest.Execute(t, home, words...)
		require.Zero(t, status, errs)
		require.Contains(t, errs, "the threads are in a database (store.kind), and rollout ")
		require.Contains(t, errs, want)
	}
	status, _, errs := apptest.Execute(t, t.TempDir(), "-c", "store.kind=postgres", "rollout", "retain", "--yes")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "the threads are in a database (store.kind)")
}
