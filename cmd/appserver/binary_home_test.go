package main

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
)

const strangerID = "01a1fdec-a59f-7270-ac57-000000000001"

// rolloutName is a path, below a home, at which a thread's rollout is looked for.
func rolloutName(home, id string) string {
	return filepath.Join(home, "sessions/2026/01/02", "rollout-2026-01-02T03-04-05-"+id+".jsonl")
}

// stored is a home with a thread of two turns, and the path of its rollout.
func stored(t *testing.T) (home, id, path string) {
	t.Helper()
	home = t.TempDir()
	c := startOffline(t, home)
	id = c.startThread(object{})
	c.turn(id, "the first")
	c.turn(id, "the second")
	path = c.readThread(id).Path
	c.close()
	return home, id, path
}

// TestBinaryPassesOverALineOfGigabytes has a hole in the midst of a rollout.
func TestBinaryPassesOverALineOfGigabytes(t *testing.T) {
	t.Parallel()
	home, id, path := stored(t)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()+1<<30))
	c := startOffline(t, home)
	require.Len(t, c.threadOf("thread/resume", object{"threadId": id}).Turns, 2)
	require.Equal(t, "completed", c.turn(id, "the third").Status)
	c.signal(syscall.SIGKILL)
	c.drain()
	c = startOffline(t, home)
	require.Len(t, c.threadOf("thread/resume", object{"threadId": id}).Turns, 3)
	c.close()
}

// TestBinaryRefusesStrangeRollouts has something else than a readable file in the
// place of a rollout: an error that names it, and the server goes on.
func TestBinaryRefusesStrangeRollouts(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"named pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"device":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"loop":       func(path string) error { return os.Symlink(path, path) },
		"lost link":  func(path string) error { return os.Symlink(path+".gone", path) },
		"unreadable": func(path string) error { return os.WriteFile(path, nil, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := stored(t)
			path := rolloutName(home, strangerID)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, put(path))
			give(t, home)
			c := dial(t, asUser(t, offlineCommand(t, home), home))
			c.initialize()
			for _, method := range []string{"thread/resume", "thread/read"} {
				refusal := c.refused(method, object{"threadId": strangerID})
				require.NotContains(t, refusal.Message, "internal error")
				require.Contains(t, refusal.Message, strangerID, "it says what is wrong")
				require.NotEqual(t, "internal", refusal.Data.Kind)
			}
			require.Contains(t, string(c.call("thread/list", object{})), id)
			c.call("thread/resume", object{"threadId": id})
			require.Equal(t, "completed", c.turn(id, "hello").Status)
			c.close()
		})
	}
}

// asUser lets a command that root would start run as the user nobody: root can read
// and write everything. The folder that the test made for the home is opened to it.
func asUser(t *testing.T, cmd *exec.Cmd, home string) *exec.Cmd {
	if os.Geteuid() != 0 {
		return cmd
	}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	require.NoError(t, os.Chmod(filepath.Dir(home), 0o755))
	return cmd
}

const nobody = 65534

// give makes nobody the owner of a home, if root is the owner of everything.
func give(t *testing.T, home string) {
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, _ error) error {
		return os.Lchown(path, nobody, nobody)
	}))
}

// TestBinaryReadsDamagedRollouts has a line in the middle that is no line any more,
// and a last one that was cut off. The rest is there, and the client is told.
func TestBinaryReadsDamagedRollouts(t *testing.T) {
	t.Parallel()
	home, id, path := stored(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	const bad = 3 // from 0
	lines[bad] = "\x00\xff{\"type\":" + lines[bad]
	torn := strings.Join(lines, "") + `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":99,"type":"resp`
	require.NoError(t, os.WriteFile(path, []byte(torn), 0o600))

	c := startOffline(t, home)
	resumed := c.threadOf("thread/resume", object{"threadId": id})
	require.Len(t, resumed.Turns, 2)
	require.Equal(t, "completed", c.turn(id, "the third").Status)
	c.close()
	warnings := c.warnings()
	require.Len(t, warnings, 1, "the torn tail is none")
	require.Contains(t, warnings[0], fmt.Sprintf("%s: line %d ", path, bad+1))

	text, err = os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), torn+"\n"), "what was there stays")
	c = startOffline(t, home)
	require.Len(t, c.threadOf("thread/resume", object{"threadId": id}).Turns, 3)
	c.close()
}

// TestBinaryReadsRolloutsWithoutBeginning lost the line that tells what the thread
// is: the name of the file tells its id and when it began.
func TestBinaryReadsRolloutsWithoutBeginning(t *testing.T) {
	t.Parallel()
	_, id, path := stored(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "\n")
	for name, left := range map[string]string{"garbage": "garbage\n" + rest, "rest": rest, "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := rolloutName(home, id)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(left), 0o600))
			c := startOffline(t, home)
			began, err := time.ParseInLocation(time.DateTime, "2026-01-02 03:04:05", time.Local)
			require.NoError(t, err)
			for _, method := range []string{"thread/read", "thread/resume"} {
				var r struct {
					Thread struct {
						ID                   string
						CreatedAt, UpdatedAt int64
					}
				}
				require.NoError(t, json.Unmarshal(c.call(method, object{"threadId": id}), &r))
				require.Equal(t, id, r.Thread.ID)
				require.Equal(t, began.Unix(), r.Thread.CreatedAt, method)
				require.GreaterOrEqual(t, r.Thread.UpdatedAt, r.Thread.CreatedAt, method)
			}
			require.Equal(t, "completed", c.turn(id, "hello").Status)
			c.close()
		})
	}
}

// warnings are the messages of warning notifications.
func (c *client) warnings() (list []string) {
	for _, m := range c.seen {
		var p struct{ Message string }
		if m.Method == "warning" && json.Unmarshal(m.Params, &p) == nil {
			list = append(list, p.Message)
		}
	}
	return list
}

// TestBinaryLivesWithoutAHome has a home that cannot be made, and one that cannot be
// written to.
func TestBinaryLivesWithoutAHome(t *testing.T) {
	t.Parallel()
	lives := func(t *testing.T, home string, cmd *exec.Cmd) {
		c := dial(t, cmd)
		c.initialize()
		refusal := c.refused("thread/start", object{})
		require.Equal(t, "storage", refusal.Data.Kind)
		require.Contains(t, refusal.Message, home)
		id := c.startThread(object{"ephemeral": true})
		require.Equal(t, "completed", c.turn(id, "hello").Status)
		c.call("thread/list", object{})
		c.close()
	}
	t.Run("below a file", func(t *testing.T) {
		t.Parallel()
		lives(t, "/dev/null/home", offlineCommand(t, "/dev/null/home"))
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		require.NoError(t, os.Chmod(home, 0o555))
		lives(t, home, asUser(t, offlineCommand(t, home), home))
	})
}

// TestBinarySurvivesAFullDisk limits the size of files, as a full disk would. What
// was acknowledged is there when space returns.
func TestBinarySurvivesAFullDisk(t *testing.T) {
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
			// 64 blocks are 32 or 64 KiB, as shells count.
			c := dial(t, throughShell(offlineCommand(t, home), `ulimit -f 64; exec "$@"`))
			c.initialize()
			id := c.startTrusted()
			refusal := c.fill(id, fill)
			require.Equal(t, "storage", refusal.Data.Kind)
			require.Contains(t, refusal.Message, "ulimit -f", "it says what to do")
			c.call("thread/list", object{})
			c.close()
			told := completedItems(t, c.seen)
			require.NotEmpty(t, told)

			c = startOffline(t, home)
			resumed := c.threadOf("thread/resume", object{"threadId": id})
			require.Subset(t, itemsOf(resumed), told, "nothing acknowledged is lost")
			require.Equal(t, "completed", c.turn(id, long).Status)
			c.close()
			require.Empty(t, c.warnings(), "no line is damaged")
		})
	}
}

// fill takes turns until input is refused. Turns that fail are told of as such.
func (c *client) fill(id string, text func(i int) string) *failure {
	c.t.Helper()
	for i := range 200 {
		answer := c.request("turn/start", object{"threadId": id, "input": textInput(text(i))})
		if answer.Error != nil {
			return answer.Error
		}
		if ended := c.awaitTurn(); ended.Status != "completed" {
			require.Equal(c.t, "failed", ended.Status)
			require.Contains(c.t, ended.Error.Message, "could not be saved")
			require.Contains(c.t, c.methods(), "error")
		}
	}
	c.t.Fatal("the disk does not become full")
	return nil
}

// methods are those of the notifications and requests of the server.
func (c *client) methods() (list []string) {
	for _, m := range c.seen {
		if m.Method != "" {
			list = append(list, m.Method)
		}
	}
	return list
}

// completedItems are the items that the client was told are complete, in order.
func completedItems(t testing.TB, seen []message) (items []string) {
	for _, m := range seen {
		if m.Method == "item/completed" {
			var p struct{ Item json.RawMessage }
			require.NoError(t, json.Unmarshal(m.Params, &p))
			items = append(items, string(p.Item))
		}
	}
	return items
}

// itemsOf are the items of a thread, in order.
func itemsOf(v threadView) []string {
	items := []string{}
	for _, turn := range v.Turns {
		for _, item := range turn.Items {
			items = append(items, string(item))
		}
	}
	return items
}

// TestBinaryNeedsFewDescriptors has 32 of them.
func TestBinaryNeedsFewDescriptors(t *testing.T) {
	t.Parallel()
	c := dial(t, throughShell(offlineCommand(t, t.TempDir()), `ulimit -n 32; exec "$@"`))
	c.initialize()
	id := c.startTrusted()
	for range 3 {
		c.beginTurn(id, "run: echo hello")
		require.Equal(t, "hello\n", c.untilCommand().AggregatedOutput)
		require.Equal(t, "completed", c.awaitTurn().Status)
	}
	c.call("thread/list", object{})
	c.close()
}

// TestBinaryStartsOnGarbage has garbage in the place of every side file.
func TestBinaryStartsOnGarbage(t *testing.T) {
	t.Parallel()
	garbage := "\x00\xff{]\nnull\n{\"id\":5,\"thread_name\":[]}\n" + strings.Repeat("[", 1000)
	for name, spoil := range map[string]func(home string) error{
		"names": func(home string) error {
			return os.WriteFile(filepath.Join(home, "session_index.jsonl"), []byte(garbage), 0o600)
		},
		"names are a folder": func(home string) error {
			return first(os.RemoveAll(filepath.Join(home, "session_index.jsonl")), os.Mkdir(filepath.Join(home, "session_index.jsonl"), 0o700))
		},
		"names are a pipe": func(home string) error {
			return first(os.RemoveAll(filepath.Join(home, "session_index.jsonl")), syscall.Mkfifo(filepath.Join(home, "session_index.jsonl"), 0o600))
		},
		"gate": func(home string) error {
			return os.WriteFile(filepath.Join(home, "thread-writer-locks/.coordination.lock"), []byte(garbage), 0o600)
		},
		"strangers among the sessions": func(home string) error {
			return first(os.WriteFile(filepath.Join(home, "sessions/rollout-x.jsonl"), []byte(garbage), 0o600),
				os.WriteFile(filepath.Join(home, "archived_sessions"), []byte(garbage), 0o600),
				os.MkdirAll(filepath.Join(home, "sessions/not/a/date/at/all"), 0o700))
		},
		"instructions": func(home string) error {
			return os.WriteFile(filepath.Join(home, "AGENTS.md"), []byte(garbage), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, id, _ := stored(t)
			require.NoError(t, spoil(home))
			c := startOffline(t, home)
			require.Contains(t, string(c.call("thread/list", object{})), id)
			require.Len(t, c.threadOf("thread/resume", object{"threadId": id}).Turns, 2)
			require.Equal(t, "completed", c.turn(id, "hello").Status)
			c.call("thread/name/set", object{"threadId": id, "name": "named"})
			fresh := c.startThread(object{})
			require.Equal(t, "completed", c.turn(fresh, "hello").Status)
			c.close()
			require.Equal(t, "named", startOffline(t, home).readThread(id).Name)
		})
	}
}

// first is the first error that there is.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestBinaryWithoutLocks has a file in the place of the folder of locks: threads
// cannot be written, and everything else works.
func TestBinaryWithoutLocks(t *testing.T) {
	t.Parallel()
	home, id, _ := stored(t)
	locks := filepath.Join(home, "thread-writer-locks")
	require.NoError(t, os.RemoveAll(locks))
	require.NoError(t, os.WriteFile(locks, []byte("garbage"), 0o600))
	c := startOffline(t, home)
	require.Len(t, c.readThread(id).Turns, 2)
	require.Contains(t, string(c.call("thread/list", object{})), id)
	for method, params := range map[string]object{"thread/resume": {"threadId": id}, "thread/start": {}} {
		require.Contains(t, c.refused(method, params).Message, locks, "it says what is in the way")
	}
	require.Equal(t, "completed", c.turn(c.startThread(object{"ephemeral": true}), "hello").Status)
	c.close()
}
