package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/cmd/appserver/internal/app"
	"appserver/test/apptest"
)

// asServer makes the program of the tests run as the server. So they run on systems without a Go compiler.
const asServer = "APPSERVER_TEST_AS_SERVER"

func TestMain(m *testing.M) {
	supervises := len(os.Args) > 1 && (os.Args[1] == app.SuperviseCommand || os.Args[1] == app.ConfineCommand)
	if supervises || os.Getenv(asServer) != "" {
		main()
	}
	os.Exit(m.Run())
}

// startServer starts a server in a home, and initializes it.
func startServer(t *testing.T, home string) *apptest.Client {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, "-c", "model_provider=offline", "app-server")
	cmd.Env = append(os.Environ(), asServer+"=1", "CODEX_HOME="+home)
	c := apptest.Connect(t, cmd, nil)
	c.Initialize()
	return c
}

// TestAThreadIsResumedByAnotherProcess covers the way of a thread: turns, resume, archive, unarchive.
func TestAThreadIsResumedByAnotherProcess(t *testing.T) {
	home, cwd := t.TempDir(), t.TempDir()
	c := startServer(t, home)
	started := c.CallThread("thread/start", apptest.Object{"cwd": cwd})
	require.Equal(t, "completed", c.Turn(started.ID, "first question").Status)
	require.Equal(t, "completed", c.Turn(started.ID, "second question").Status)
	rel, err := filepath.Rel(home, started.Path)
	require.NoError(t, err)
	require.True(t, filepath.IsLocal(rel), rel)
	c.Close()
	text, err := os.ReadFile(started.Path)
	require.NoError(t, err)
	require.True(t, bytes.Contains(text, []byte("first question")))

	c = startServer(t, home)
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": started.ID})
	require.Equal(t, started.Path, resumed.Path)
	require.Len(t, c.ReadThread(started.ID).Turns, 2)
	require.Equal(t, "completed", c.Turn(started.ID, "third question").Status)
	c.Call("thread/archive", apptest.Object{"threadId": started.ID})
	require.NoFileExists(t, started.Path)
	c.Call("thread/unarchive", apptest.Object{"threadId": started.ID})
	require.FileExists(t, started.Path)
	require.Len(t, c.ReadThread(started.ID).Turns, 3)
	c.Close()
}

// TestACommandRunsAfterItsApproval runs a script in the shell of the system, once the client has accepted it.
func TestACommandRunsAfterItsApproval(t *testing.T) {
	cwd := t.TempDir()
	c := startServer(t, t.TempDir())
	thread := c.StartThread(apptest.Object{"cwd": cwd, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	c.BeginTurn(thread, "run: echo hello> greeting.txt")
	question := c.UntilMethod("item/commandExecution/requestApproval")
	require.NoFileExists(t, filepath.Join(cwd, "greeting.txt"))
	c.Send(apptest.Object{"id": question.ID, "result": apptest.Object{"decision": "accept"}})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	text, err := os.ReadFile(filepath.Join(cwd, "greeting.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello", strings.TrimSpace(string(text)))
	c.Close()
}
