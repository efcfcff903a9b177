package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// compressWith compresses rollouts by the subcommand and requires that only the compressed forms are left.
func compressWith(t *testing.T, home string, paths ...string) {
	t.Helper()
	status, out, errs := apptest.Execute(t, home, append([]string{"rollout", "compress"}, paths...)...)
	require.Zero(t, status, out+errs)
	for _, path := range paths {
		require.NoFileExists(t, path)
		require.FileExists(t, path+".zst")
	}
}

// rolloutFiles returns the names of all rollouts below a home, in both forms.
func rolloutFiles(t *testing.T, home string) (names []string) {
	t.Helper()
	for _, pattern := range []string{"sessions/*/*/*/*", "archived_sessions/*"} {
		paths, err := filepath.Glob(filepath.Join(home, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// twinHomes returns two homes with the same rollouts, of which the second one has all of them compressed.
func twinHomes(t *testing.T) (plain, compressed string, ids map[string]string) {
	p := apptest.NewProvider(t)
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	var homes [2]string
	for i := range homes {
		homes[i] = p.Home(t)
		ids = apptest.PutRollouts(t, homes[i])
		paths, err := filepath.Glob(filepath.Join(homes[i], "sessions/*/*/*/*.jsonl"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			require.NoError(t, os.Chtimes(path, at, at))
		}
		if i == 1 {
			compressWith(t, homes[i], paths...)
		}
	}
	return homes[0], homes[1], ids
}

// TestCompressedThreadsAreThoseOfPlainRollouts sends the same requests to servers with plain and with compressed
// rollouts, and compares the responses.
func TestCompressedThreadsAreThoseOfPlainRollouts(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesPaths)
	t.Parallel()
	plain, compressed, ids := twinHomes(t)
	answers := func(home string) map[string]string {
		c := apptest.StartServer(t, home)
		defer c.Close()
		c.Initialize()
		got := map[string]string{}
		ask := func(name, method string, params apptest.Object) {
			got[name+" "+method] = strings.ReplaceAll(string(c.Call(method, params)), home, "HOME")
		}
		all := apptest.Object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}}
		ask("created", "thread/list", all)
		for name, more := range map[string]apptest.Object{
			"updated": {"sortKey": "updated_at"}, "term": {"searchTerm": "the"}, "ascending": {"sortDirection": "asc"},
			"page": {"limit": 3}, "archived": {"archived": true}, "cwd": {"cwd": "/work"},
		} {
			for key, value := range all {
				more[key] = value
			}
			ask(name, "thread/list", more)
		}
		ask("", "thread/search", apptest.Object{"searchTerm": "the", "sourceKinds": all["sourceKinds"]})
		for name, id := range ids {
			ask(name, "thread/read", apptest.Object{"threadId": id, "includeTurns": true})
			ask(name, "thread/turns/list", apptest.Object{"threadId": id})
			ask(name, "thread/items/list", apptest.Object{"threadId": id, "limit": 1000})
			ask(name, "thread/searchOccurrences", apptest.Object{"threadId": id, "searchTerm": "e"})
			ask(name, "context/getItems", apptest.Object{"threadId": id})
		}
		return got
	}
	want := answers(plain)
	require.Greater(t, len(want), 50)
	require.Equal(t, want, answers(compressed))
	for _, name := range rolloutFiles(t, compressed) {
		require.True(t, strings.HasSuffix(name, ".jsonl.zst"), "reading changes no file: %s", name)
	}
}

// compressedThread returns a home with one compressed thread of a turn, last written 10 days ago.
func compressedThread(t *testing.T) (home, id, path string) {
	home = apptest.NewProvider(t).Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id = c.StartThread(nil)
	c.Turn(id, "remember the zebra")
	c.Close()
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	age(t, paths[0], 10)
	compressWith(t, home, paths[0])
	return home, id, paths[0]
}

func TestACompressedThreadIsResumedByItsIDAndBothPaths(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesPaths)
	t.Parallel()
	for name, params := range map[string]func(id, path string) apptest.Object{
		"id":          func(id, _ string) apptest.Object { return apptest.Object{"threadId": id} },
		"plain path":  func(id, path string) apptest.Object { return apptest.Object{"threadId": id, "path": path} },
		"stored path": func(id, path string) apptest.Object { return apptest.Object{"threadId": id, "path": path + ".zst"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, path := compressedThread(t)
			c := apptest.StartServer(t, home)
			c.Initialize()
			thread := c.CallThread("thread/resume", params(id, path))
			require.Equal(t, id, thread.ID)
			require.Equal(t, path, gjson.GetBytes(c.Call("thread/read", apptest.Object{"threadId": id}), "thread.path").Str)
			again := params(id, path)
			require.Equal(t, id, c.CallThread("thread/resume", again).ID, "the loaded thread has the same names")
			c.Turn(id, "and the lion")
			c.Close()
			require.FileExists(t, path)
			require.NoFileExists(t, path+".zst")
			c = apptest.StartServer(t, home)
			c.Initialize()
			require.Len(t, c.ReadThread(id).Turns, 2)
			c.Close()
		})
	}
}

func TestACompressedThreadIsChangedWithoutLoss(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesPaths)
	t.Parallel()
	home, id, path := compressedThread(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(t, []string{filepath.Base(path) + ".zst"}, rolloutFiles(t, home), "a move keeps the form")
	require.Equal(t, id, gjson.GetBytes(c.Call("thread/list", apptest.Object{"archived": true}), "data.0.id").Str)
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.FileExists(t, path+".zst")

	fork := c.CallThread("thread/fork", apptest.Object{"threadId": id, "path": path + ".zst"})
	require.FileExists(t, path+".zst", "a fork only reads its origin")
	require.Len(t, c.ReadThread(fork.ID).Turns, 1)

	items := c.ContextList(id)
	require.NotEmpty(t, items.Items)
	last := items.Items[len(items.Items)-1].ID
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{last}, "included": false})
	require.FileExists(t, path, "an edit is appended to the plain form")
	c.Call("thread/metadata/update", apptest.Object{"threadId": id, "gitInfo": apptest.Object{"branch": "zebra"}})
	c.Close()

	age(t, path, 10)
	if _, err := os.Stat(path + ".bak"); err == nil {
		age(t, path+".bak", 10)
	}
	compressWith(t, home, path)
	require.NoFileExists(t, path+".bak")
	c = apptest.StartServer(t, home)
	c.Initialize()
	excluded := c.ContextList(id)
	require.Equal(t, last, excluded.Items[len(excluded.Items)-1].ID)
	listed := c.CallJSON("thread/list", apptest.Object{})
	require.Equal(t, "zebra", listed.Get(`data.#(id=="`+id+`").gitInfo.branch`).Str)
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "named"})
	turn := c.ReadThread(id).Turns[0].ID
	c.Call("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": turn})
	require.Empty(t, c.ReadThread(id).Turns)
	c.Call("thread/delete", apptest.Object{"threadId": id})
	c.Call("thread/delete", apptest.Object{"threadId": fork.ID})
	require.Empty(t, rolloutFiles(t, home), "both forms and the backups are gone")
	c.Close()
}

// TestRolloutCompressCompressesOldThreads compresses by the request. Loaded and young threads stay as they are.
func TestRolloutCompressCompressesOldThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesTimes)
	t.Parallel()
	home, ids := agedHome(t, 3)
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(t, err)
	age(t, paths[0], 3)
	c := apptest.StartOffline(t, home)
	// The newest thread comes first. So the compressed one is the last, and the server has no more to do when it ends.
	c.Call("thread/resume", apptest.Object{"threadId": ids[2]})
	age(t, paths[2], 30)
	require.JSONEq(t, `{}`, string(c.Call("rollout/compress", nil)))
	before, err := os.Stat(paths[1])
	if err != nil {
		before, err = os.Stat(paths[1] + ".zst")
	}
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := os.Stat(paths[1])
		return os.IsNotExist(err)
	}, 20*time.Second, 10*time.Millisecond)
	after, err := os.Stat(paths[1] + ".zst")
	require.NoError(t, err)
	require.True(t, before.ModTime().Equal(after.ModTime()))
	require.FileExists(t, paths[0], "it is young")
	require.FileExists(t, paths[2], "it is loaded")
	require.Len(t, c.CallJSON("thread/list", apptest.Object{"modelProviders": []string{}}).Get("data").Array(), 3)
	c.Close()
	require.FileExists(t, filepath.Join(home, ".tmp/rollout-compression.lock"))

	age(t, paths[0], 30)
	c = apptest.StartOffline(t, home)
	require.JSONEq(t, `{}`, string(c.Call("rollout/compress", nil)))
	c.Close()
	require.FileExists(t, paths[0], "nothing is compressed within six hours after the last time")
}

func TestRolloutCompressReportsWhatItDid(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, ids := agedHome(t, 3)
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(t, err)
	age(t, paths[0], 3)
	status, out, errs := apptest.Execute(t, home, "rollout", "compress", "--dry-run")
	require.Zero(t, status, errs)
	require.Contains(t, out, "would be compressed: "+paths[1]+"\n")
	require.Contains(t, out, "2 threads would be compressed\n")
	require.FileExists(t, paths[1])

	c := apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": ids[1]})
	age(t, paths[1], 30)
	status, out, errs = apptest.Execute(t, home, "rollout", "compress", "--json")
	require.Equal(t, 1, status)
	require.Equal(t, "appserver: rollout compress: 1 thread not compressed: see above\n", errs)
	require.True(t, json.Valid([]byte(out)))
	require.Equal(t, ids[2], gjson.Get(out, "compressed.0.threadId").Str)
	require.Equal(t, int64(1), gjson.Get(out, "compressed.#").Int())
	require.Greater(t, gjson.Get(out, "bytesBefore").Int(), gjson.Get(out, "bytesAfter").Int())
	require.Equal(t, ids[1], gjson.Get(out, "kept.0.threadId").Str)
	require.Contains(t, gjson.Get(out, "kept.0.reason").Str, "already has an active writer")
	c.Close()

	status, out, errs = apptest.Execute(t, home, "rollout", "compress", "--older-than", "0")
	require.Zero(t, status, errs)
	require.Contains(t, out, "2 threads compressed: ")
	status, out, errs = apptest.Execute(t, home, "rollout", "compress", paths[0]+".zst", paths[1])
	require.Zero(t, status, errs)
	require.Equal(t, "0 threads compressed\n", out)
	status, out, errs = apptest.Execute(t, home, "rollout", "verify", filepath.Join(home, "sessions"), paths[0],
		paths[1]+".zst")
	require.Zero(t, status, errs)
	require.Equal(t, 5, strings.Count(out, ": no problems, "), out)
	for _, args := range [][]string{
		{"compress", "--older-than", "-1"}, {"compress", "--yes"}, {"verify", "--older-than", "3", "x"},
	} {
		status, _, _ = apptest.Execute(t, home, append([]string{"rollout"}, args...)...)
		require.Equal(t, 2, status, args)
	}
	status, _, errs = apptest.Execute(t, home, "rollout", "compress", filepath.Join(home, "none.jsonl"))
	require.Equal(t, 1, status)
	require.Contains(t, errs, "none.jsonl")
}

// TestCommandsReadCompressedThreads runs subcommands that take a thread.
func TestCommandsReadCompressedThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesPaths)
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	commands := [][]string{
		{"thread", "export", path}, {"context", "list", path}, {"context", "list", apptest.LegacyID},
		{"context", "usage", path},
	}
	run := func(stored string) (outs []string) {
		for _, args := range commands {
			status, out, errs := apptest.Execute(t, home, append(args[:2:2], strings.ReplaceAll(args[2], path, stored))...)
			require.Zero(t, status, "%v %s", args, errs)
			outs = append(outs, out)
		}
		return outs
	}
	want := run(path)
	compressWith(t, home, path)
	require.Equal(t, want, run(path))
	require.Equal(t, want, run(path+".zst"))
}

// TestADamagedCompressedThreadIsReadAndContinued truncates a compressed rollout.
func TestADamagedCompressedThreadIsReadAndContinued(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home, id, path := compressedThread(t)
	content, err := os.ReadFile(path + ".zst")
	require.NoError(t, err)
	stored := append(content, "rubbish"...)
	require.NoError(t, os.WriteFile(path+".zst", stored, 0o600))
	status, out, _ := apptest.Execute(t, home, "rollout", "verify", path)
	require.Equal(t, 1, status)
	require.Contains(t, out, "damagedCompression: its compression is damaged after")

	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, id, c.CallJSON("thread/list", apptest.Object{}).Get("data.0.id").Str)
	require.Len(t, c.ReadThread(id).Turns, 1)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	warned := c.UntilMethod("warning")
	require.Contains(t, string(warned.Params), "its compression is damaged")
	c.Turn(id, "again")
	c.Close()
	kept, err := os.ReadFile(path + ".orig.zst")
	require.NoError(t, err)
	require.Equal(t, stored, kept)
}
