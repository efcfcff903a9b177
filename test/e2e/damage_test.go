package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// damagedRollout is a kind of damaged rollout, with the expected behavior.
type damagedRollout struct {
	// put writes the file at path from the lines of an undamaged one.
	put func(path string, text []string) error
	// listed, read and resumed report which requests succeed. turns is the number of shown turns.
	listed, read, resumed bool
	turns                 int
	// warns is a part of the first warning; lists is a part of the list's warning, or "".
	warns, lists string
}

func writing(change func(text []string) string) func(string, []string) error {
	return func(path string, text []string) error { return os.WriteFile(path, []byte(change(text)), 0o600) }
}

func joinLines(text []string) string { return strings.Join(text, "") }

func withLine(i int, change func(line string) string) func(string, []string) error {
	return writing(func(text []string) string {
		text[i] = change(text[i])
		return joinLines(text)
	})
}

var damagedRollouts = map[string]damagedRollout{
	"torn tail": {writing(func(t []string) string { return joinLines(t) + `{"timestamp":"20` }), true, true, true, 2,
		"", ""},
	"corrupt middle": {withLine(3, func(string) string { return "\x00\n" }), true, true, true, 2,
		"line 4 cannot be read (not JSON)", ""},
	"corrupt first": {withLine(0, func(string) string { return "garbage\n" }), true, true, true, 2,
		"session_meta is lost", ""},
	"missing first": {withLine(0, func(string) string { return "" }), true, true, true, 2,
		"session_meta is lost", ""},
	"byte order mark": {withLine(0, func(l string) string { return "\ufeff" + l }), true, true, true, 2, "", ""},
	"CRLF": {writing(func(t []string) string { return strings.ReplaceAll(joinLines(t), "\n", "\r\n") }), true,
		true, true, 2, "", ""},
	"without LF": {writing(func(t []string) string { return strings.TrimSuffix(joinLines(t), "\n") }), true, true, true,
		2, "", ""},
	"a line twice": {withLine(4, func(l string) string { return l + l }), true, true, true, 2,
		"ordinals of 1 lines are not higher", ""},
	"another's": {withLine(0,
		func(l string) string { return strings.ReplaceAll(l, apptest.UnknownThreadID, apptest.LegacyID) }), true, true,
		true, 2,
		"session_meta is that of thread " + apptest.LegacyID, ""},
	"zero length": {writing(func([]string) string { return "" }), false, true, true, 0, "the file is empty",
		"it is empty"},
	"zeros at the end": {writing(func(t []string) string { return joinLines(t) + strings.Repeat("\x00", 4096) }),
		true, true,
		true, 2, "cannot be read (not JSON: it has zero bytes)", ""},
	"zeros in the last line": {writing(func(t []string) string {
		return joinLines(t) + `{"timestamp":"20` + strings.Repeat("\x00", 4096)
	}), true, true, true, 2, "cannot be read (not JSON: it has zero bytes)", ""},
	"zero length, with .bak": {func(path string, t []string) error {
		return firstError(os.WriteFile(path, nil, 0o600), os.WriteFile(path+".bak", []byte(joinLines(t)), 0o600))
	}, true, true, true, 2, "the file was empty, and was restored from its backup", ""},
	"wrong name": {func(path string, t []string) error {
		return os.WriteFile(filepath.Join(filepath.Dir(path), "copy.jsonl"), []byte(joinLines(t)), 0o600)
	}, false, false, false, 0, "", "copy.jsonl\" has no thread id"},
	"unreadable": {func(path string, t []string) error { return os.WriteFile(path, []byte(joinLines(t)), 0) }, false,
		false,
		false, 0, "", "permission denied"},
	"folder": {func(path string, _ []string) error { return os.Mkdir(path, 0o700) }, false, false, false, 0, "", ""},
	"named pipe": {func(path string, _ []string) error { return posix.Mkfifo(path, 0o600) }, false, false, false, 0, "",
		"is a named pipe, not a regular file"},
	"loop": {func(path string, _ []string) error { return os.Symlink(path, path) }, false, false, false, 0, "",
		"the link leads back to itself"},
	"lost link": {func(path string, _ []string) error { return os.Symlink(path+".gone", path) }, false, false, false, 0,
		"", "no such file"},
	"link": {func(path string, t []string) error {
		return firstError(os.WriteFile(path+".elsewhere", []byte(joinLines(t)), 0o600), os.Symlink(path+".elsewhere", path))
	}, true, true, true, 2, "", ""},
	"other's .bak": {func(path string, t []string) error {
		return firstError(os.WriteFile(path, []byte(joinLines(t)), 0o600),
			os.WriteFile(path+".bak", []byte(strings.ReplaceAll(joinLines(t), apptest.UnknownThreadID, apptest.LegacyID)),
				0o600))
	}, true, true, true, 2, "", ""},
}

// TestDamagedRolloutShowsRemainingLines lists, reads and resumes a damaged rollout beside an undamaged
// one. The damage is reported once, and the other thread is not affected.
func TestDamagedRolloutShowsRemainingLines(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	sample.Long(t)
	t.Parallel()
	_, id, path := newStoredThread(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	stranger := strings.ReplaceAll(string(text), id, apptest.UnknownThreadID)
	for name, s := range damagedRollouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := apptest.RolloutName(home, apptest.UnknownThreadID)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(apptest.RolloutName(home, id), text, 0o600))
			require.NoError(t, s.put(path, strings.SplitAfter(stranger, "\n")))
			apptest.GiveHome(t, home)
			c := apptest.StartProcess(t, apptest.Unprivileged(t, apptest.OfflineCommand(t, home), home))
			c.Initialize()
			for range 2 {
				list := string(c.Call("thread/list", apptest.Object{}))
				require.Contains(t, list, id, "the other thread")
				require.Equal(t, s.listed, strings.Contains(list, `"id":"`+apptest.UnknownThreadID), list)
			}
			require.Equal(t, s.lists == "", len(c.Warnings()) == 0, "%v", c.Warnings())
			if s.lists != "" {
				require.Len(t, c.Warnings(), 1, "reported once")
				require.Contains(t, c.Warnings()[0], s.lists)
			}
			c.Seen = nil
			s.requireRead(c)
			if s.resumed {
				require.Equal(t, "completed", c.Turn(apptest.UnknownThreadID, "hello").Status)
			}
			c.Close()
		})
	}
}

func (s damagedRollout) requireRead(c *apptest.Client) {
	c.T.Helper()
	for method, works := range map[string]bool{"thread/read": s.read, "thread/resume": s.resumed} {
		p := apptest.Object{"threadId": apptest.UnknownThreadID, "includeTurns": true}
		if !works {
			require.NotContains(c.T, []string{"", "internal"}, c.CallRejected(method, p).Data.Kind)
			continue
		}
		require.Len(c.T, c.CallThread(method, p).Turns, s.turns)
	}
	if s.resumed {
		c.Call("thread/loaded/list", apptest.Object{}) // its response follows the warnings of the thread
	}
	warnings := strings.Join(c.Warnings(), "\n")
	require.Equal(c.T, s.warns == "", warnings == "", warnings)
	require.Contains(c.T, warnings, s.warns)
}

// TestDamagedRolloutIsReportedByNextList adds damaged files while a server runs, with and without
// an index. The next list reports them, and later ones do not.
func TestDamagedRolloutIsReportedByNextList(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home, id, path := newStoredThread(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(strings.ReplaceAll(string(text), id, apptest.UnknownThreadID), "\n")
	for name, s := range damagedRollouts {
		for _, index := range []string{"true", "false"} {
			if s.lists == "" {
				continue
			}
			t.Run(name+", index "+index, func(t *testing.T) {
				t.Parallel()
				home := copyHome(t, home)
				apptest.GiveHome(t, home)
				c := apptest.StartProcess(t, apptest.Unprivileged(t,
					apptest.OfflineCommand(t, home, "-c", "index.enabled="+index), home))
				c.Initialize()
				if index == "true" {
					apptest.AwaitIndex(c)
				}
				c.Call("thread/list", apptest.Object{})
				require.Empty(t, c.Warnings())
				path := apptest.RolloutName(home, apptest.UnknownThreadID)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, s.put(path, lines))
				apptest.GiveHome(t, home)
				for range 3 {
					require.Contains(t, string(c.Call("thread/list", apptest.Object{})), id)
				}
				c.Close()
				require.Len(t, c.Warnings(), 1, "reported once")
				require.Contains(t, c.Warnings()[0], s.lists)
			})
		}
	}
}

// copyHome returns a new home with the threads of another one.
func copyHome(t *testing.T, home string) string {
	t.Helper()
	other := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(other, "sessions"), os.DirFS(filepath.Join(home, "sessions"))))
	return other
}

// TestEmptyRolloutStaysListed empties a rollout without a backup. The list has the head from the
// index, a resume reports that the file is empty, and the thread can be restored or deleted.
func TestEmptyRolloutStaysListed(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	for name, running := range map[string]bool{"while the server runs": true, "between two servers": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, path := newStoredThread(t)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			c := apptest.StartOffline(t, home)
			apptest.AwaitIndex(c)
			before := c.Call("thread/list", apptest.Object{})
			if !running {
				c.Close()
			}
			require.NoError(t, os.Truncate(path, 0))
			if !running {
				c = apptest.StartOffline(t, home)
				apptest.AwaitIndex(c)
			}
			for range 2 {
				require.JSONEq(t, string(before), string(c.Call("thread/list", apptest.Object{})))
			}
			require.Empty(t, c.CallThread("thread/read", apptest.Object{"threadId": id, "includeTurns": true}).Turns)
			require.NoError(t, os.WriteFile(path, text, 0o600))
			require.Len(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, 2)
			c.Call("thread/unsubscribe", apptest.Object{"threadId": id})
			c.Close()

			require.NoError(t, os.Truncate(path, 0))
			c = apptest.StartOffline(t, home)
			apptest.AwaitIndex(c)
			require.Contains(t, string(c.Call("thread/list", apptest.Object{})), id)
			require.Empty(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns)
			c.Call("thread/loaded/list", apptest.Object{}) // its response follows the warning of the resume
			require.Len(t, c.Warnings(), 1)
			require.Contains(t, c.Warnings()[0], "the file is empty")
			c.Call("thread/delete", apptest.Object{"threadId": id})
			require.NotContains(t, string(c.Call("thread/list", apptest.Object{})), id)
			require.NoFileExists(t, path)
			c.Close()
		})
	}
}
