package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// newStoredThread returns a home with a thread of two turns, and the path of its rollout.
func newStoredThread(t *testing.T) (home, id, path string) {
	t.Helper()
	home = t.TempDir()
	c := apptest.StartOffline(t, home)
	id = c.StartThread(apptest.Object{})
	c.Turn(id, "the first")
	c.Turn(id, "the second")
	path = c.ReadThread(id).Path
	c.Close()
	return home, id, path
}

// TestHugeLineIsSkipped has a sparse line of 256 MiB in a rollout.
func TestHugeLineIsSkipped(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	sample.Long(t)
	t.Parallel()
	home, id, path := newStoredThread(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()+1<<28))
	c := apptest.StartOffline(t, home)
	require.Len(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, 2)
	require.Equal(t, "completed", c.Turn(id, "the third").Status)
	c.Signal(syscall.SIGKILL)
	c.Drain()
	c = apptest.StartOffline(t, home)
	require.Len(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, 3)
	c.Close()
}

// TestUnreadableRolloutsAreReported has something else in the place of a rollout. The error names
// it, and the server continues.
func TestUnreadableRolloutsAreReported(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"named pipe": func(path string) error { return posix.Mkfifo(path, 0o600) },
		"folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"device":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"loop":       func(path string) error { return os.Symlink(path, path) },
		"lost link":  func(path string) error { return os.Symlink(path+".gone", path) },
		"unreadable": func(path string) error { return os.WriteFile(path, nil, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := newStoredThread(t)
			path := apptest.RolloutName(home, apptest.UnknownThreadID)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, put(path))
			apptest.GiveHome(t, home)
			c := apptest.StartProcess(t, apptest.Unprivileged(t, apptest.OfflineCommand(t, home), home))
			c.Initialize()
			for _, method := range []string{"thread/resume", "thread/read"} {
				refusal := c.CallRejected(method, apptest.Object{"threadId": apptest.UnknownThreadID})
				require.NotContains(t, refusal.Message, "internal error")
				require.Contains(t, refusal.Message, apptest.UnknownThreadID, "the error names the cause")
				require.NotEqual(t, "internal", refusal.Data.Kind)
			}
			require.Contains(t, string(c.Call("thread/list", apptest.Object{})), id)
			c.Call("thread/resume", apptest.Object{"threadId": id})
			require.Equal(t, "completed", c.Turn(id, "hello").Status)
			c.Close()
		})
	}
}

// TestDamagedRolloutKeepsOtherLines has an invalid line in the middle and a torn tail. All other
// lines are read, and the client is warned.
func TestDamagedRolloutKeepsOtherLines(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home, id, path := newStoredThread(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	const bad = 3 // counted from 0
	lines[bad] = "\x00\xff{\"type\":" + lines[bad]
	torn := strings.Join(lines, "") + `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":99,"type":"resp`
	require.NoError(t, os.WriteFile(path, []byte(torn), 0o600))

	c := apptest.StartOffline(t, home)
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Len(t, resumed.Turns, 2)
	require.Equal(t, "completed", c.Turn(id, "the third").Status)
	c.Close()
	warnings := c.Warnings()
	require.Len(t, warnings, 1, "a torn tail is no damage")
	require.Contains(t, warnings[0], fmt.Sprintf("%s: line %d ", path, bad+1))

	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), torn+"\n"), "the file is unchanged")
	c = apptest.StartOffline(t, home)
	require.Len(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, 3)
	c.Close()
}

// TestRolloutWithoutMetadataIsRead removes the first line. The name of the file has the id and the
// creation time.
func TestRolloutWithoutMetadataIsRead(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	_, id, path := newStoredThread(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	for name, left := range map[string]string{"garbage": "garbage\n" + rest, "rest": rest, "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := apptest.RolloutName(home, id)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(left), 0o600))
			c := apptest.StartOffline(t, home)
			began, err := time.ParseInLocation(time.DateTime, "2026-01-02 03:04:05", time.Local)
			require.NoError(t, err)
			for _, method := range []string{"thread/read", "thread/resume"} {
				var r struct {
					Thread struct {
						ID                   string
						CreatedAt, UpdatedAt int64
					}
				}
				require.NoError(t, json.Unmarshal(c.Call(method, apptest.Object{"threadId": id}), &r))
				require.Equal(t, id, r.Thread.ID)
				require.Equal(t, began.Unix(), r.Thread.CreatedAt, method)
				require.GreaterOrEqual(t, r.Thread.UpdatedAt, r.Thread.CreatedAt, method)
			}
			require.Equal(t, "completed", c.Turn(id, "hello").Status)
			c.Close()
		})
	}
}

// TestServesWithoutUsableHome uses homes that cannot be created or written.
func TestServesWithoutUsableHome(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesHome)
	t.Parallel()
	lives := func(t *testing.T, home string, cmd *exec.Cmd) {
		c := apptest.StartProcess(t, cmd)
		c.Initialize()
		refusal := c.CallRejected("thread/start", apptest.Object{})
		require.Equal(t, "storage", refusal.Data.Kind)
		require.Contains(t, refusal.Message, home)
		id := c.StartThread(apptest.Object{"ephemeral": true})
		require.Equal(t, "completed", c.Turn(id, "hello").Status)
		c.Call("thread/list", apptest.Object{})
		c.Close()
	}
	t.Run("below a file", func(t *testing.T) {
		t.Parallel()
		lives(t, "/dev/null/home", apptest.OfflineCommand(t, "/dev/null/home"))
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		require.NoError(t, os.Chmod(home, 0o555))
		lives(t, home, apptest.Unprivileged(t, apptest.OfflineCommand(t, home), home))
	})
}

// TestFullDiskKeepsAcknowledgedLines limits the size of files, as a full disk does. Acknowledged
// turns are read when space is free again.
func TestFullDiskKeepsAcknowledgedLines(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesDisk)
	t.Parallel()
	long := strings.Repeat("All work and no play. ", 100)
	for name, fill := range map[string]func(i int) string{
		"by the user":   func(i int) string { return fmt.Sprint(i, long) },
		"by the answer": func(int) string { return "hello" },
		"by a command":  func(int) string { return "run: head -c 30000 /dev/zero | tr '\\0' x" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			// 64 blocks are 32 or 64 KiB, depending on the shell
			c := apptest.StartProcess(t, apptest.ThroughShell(apptest.OfflineCommand(t, home), `ulimit -f 64; exec "$@"`))
			c.Initialize()
			id := c.StartTrusted()
			refusal := c.FillDisk(id, fill)
			require.Equal(t, "storage", refusal.Data.Kind)
			require.Contains(t, refusal.Message, "ulimit -f", "the error names the next action")
			c.Call("thread/list", apptest.Object{})
			c.Close()
			notified := completedItems(t, c.Seen)
			require.NotEmpty(t, notified)

			c = apptest.StartOffline(t, home)
			resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
			require.Subset(t, apptest.ItemsOf(resumed), notified, "all acknowledged items are kept")
			require.Equal(t, "completed", c.Turn(id, long).Status)
			c.Close()
			require.Empty(t, c.Warnings(), "no line is damaged")
		})
	}
}

// completedItems returns the completed items in the order of their notifications.
func completedItems(t testing.TB, seen []apptest.Message) (items []string) {
	for _, m := range seen {
		if m.Method == "item/completed" {
			var p struct{ Item json.RawMessage }
			require.NoError(t, json.Unmarshal(m.Params, &p))
			items = append(items, string(p.Item))
		}
	}
	return items
}

// fewDescriptors returns a shell script that runs a server with 40 file descriptors. Connections to a
// database need 16 more.
func fewDescriptors() string {
	if apptest.UsesDatabase() {
		return `ulimit -n 56; exec "$@"`
	}
	return `ulimit -n 40; exec "$@"`
}

func TestServesWithFewDescriptors(t *testing.T) {
	t.Parallel()
	c := apptest.StartProcess(t, apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir()), fewDescriptors()))
	c.Initialize()
	id := c.StartTrusted()
	for range 3 {
		c.BeginTurn(id, "run: echo hello")
		require.Equal(t, "hello\n", c.UntilCommand().AggregatedOutput)
		require.Equal(t, "completed", c.AwaitTurn().Status)
	}
	c.Call("thread/list", apptest.Object{})
	c.Close()
}

// TestInvalidSideFilesAreIgnored has invalid data in all files that are not rollouts.
func TestInvalidSideFilesAreIgnored(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	garbage := "\x00\xff{]\nnull\n{\"id\":5,\"thread_name\":[]}\n" + strings.Repeat("[", 1000)
	for name, spoil := range map[string]func(home string) error{
		"names": func(home string) error {
			return os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(garbage), 0o600)
		},
		"names are a folder": func(home string) error {
			return firstError(os.RemoveAll(filepath.Join(home, "session_index.jsonl")),
				os.Mkdir(filepath.Join(home, "session_index.jsonl"), 0o700))
		},
		"names are a pipe": func(home string) error {
			return firstError(os.RemoveAll(filepath.Join(home, "session_index.jsonl")),
				posix.Mkfifo(filepath.Join(home, "session_index.jsonl"), 0o600))
		},
		"gate": func(home string) error {
			return os.WriteFile(filepath.Join(home, "thread-writer-locks/.coordination.lock"), []byte(garbage), 0o600)
		},
		"strangers among the sessions": func(home string) error {
			return firstError(os.WriteFile(filepath.Join(home, "sessions/rollout-x.jsonl"), []byte(garbage), 0o600),
				os.WriteFile(filepath.Join(home, "archived_sessions"), []byte(garbage), 0o600),
				os.MkdirAll(filepath.Join(home, "sessions/not/a/date/at/all"), 0o700))
		},
		"instructions": func(home string) error {
			return os.WriteFile(filepath.Join(home, "AGENTS.md"), []byte(garbage), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := newStoredThread(t)
			require.NoError(t, spoil(home))
			c := apptest.StartOffline(t, home)
			require.Contains(t, string(c.Call("thread/list", apptest.Object{})), id)
			require.Len(t, c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns, 2)
			require.Equal(t, "completed", c.Turn(id, "hello").Status)
			c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "named"})
			fresh := c.StartThread(apptest.Object{})
			require.Equal(t, "completed", c.Turn(fresh, "hello").Status)
			c.Close()
			require.Equal(t, "named", apptest.StartOffline(t, home).ReadThread(id).Name)
		})
	}
}

// firstError returns the first error that is not nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestServesWithoutLocks has a file in the place of the lock folder. Threads cannot be written;
// everything else works.
func TestServesWithoutLocks(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home, id, _ := newStoredThread(t)
	locks := filepath.Join(home, "thread-writer-locks")
	require.NoError(t, os.RemoveAll(locks))
	require.NoError(t, os.WriteFile(locks, []byte("garbage"), 0o600))
	c := apptest.StartOffline(t, home)
	require.Len(t, c.ReadThread(id).Turns, 2)
	require.Contains(t, string(c.Call("thread/list", apptest.Object{})), id)
	for method, params := range map[string]apptest.Object{"thread/resume": {"threadId": id}, "thread/start": {}} {
		require.Contains(t, c.CallRejected(method, params).Message, locks, "the error names the obstacle")
	}
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{"ephemeral": true}), "hello").Status)
	c.Close()
}
