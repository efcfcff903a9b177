package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// stdinAnswer adds an answer that writes to the model's last terminal session. It waits long enough for a busy
// machine.
func stdinAnswer(p *apptest.Provider, id, chars string) func(io.Writer) {
	return func(w io.Writer) {
		requests := p.Requests()
		found := apptest.SessionPattern.FindAllStringSubmatch(requests[len(requests)-1].Body, -1)
		callAnswer(id, "write_stdin", apptest.Object{"session_id": json.Number(found[len(found)-1][1]), "chars": chars,
			"yield_time_ms": 5000})(w)
	}
}

// backgroundAnswer returns an answer that starts a command in the background.
func backgroundAnswer(id, script string, tty bool) func(io.Writer) {
	return callAnswer(id, "exec_command", apptest.Object{"cmd": script, "tty": tty, "yield_time_ms": 250})
}

// TestTerminalsStayUntilTerminated starts a background command, writes to it in another turn, and
// terminates it by the client. An interrupted turn does not terminate it.
func TestTerminalsStayUntilTerminated(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	b := apptest.NewProcessTree()
	t.Cleanup(func() { b.Kill(t) })
	p := &apptest.Provider{}
	answerWith(p, t, backgroundAnswer("a", "read line; echo got $line; "+b.Script(), true), apptest.TextAnswer("it runs"),
		stdinAnswer(p, "b", "hello\n"), stdinAnswer(p, "c", ""))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartTrusted()
	first := c.BeginTurn(id, "serve")
	c.AwaitTurn()
	running := c.Terminals(id)
	require.Len(t, running, 1)
	require.Equal(t, "a", running[0].ItemID)

	second := c.BeginTurn(id, "talk to it")
	typed := c.UntilMethod("item/commandExecution/terminalInteraction")
	require.Equal(t, []any{second, "a", "hello\n"},
		[]any{gjson.GetBytes(typed.Params, "turnId").Str, gjson.GetBytes(typed.Params, "itemId").Str,
			gjson.GetBytes(typed.Params, "stdin").Str})
	c.UntilMethod("item/commandExecution/terminalInteraction")
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": second})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	require.Contains(t, p.Requests()[3].Body, `got hello`)
	require.Len(t, c.Terminals(id), 1)
	require.NotEmpty(t, b.Alive(t))

	c.Call("thread/backgroundTerminals/terminate", apptest.Object{"threadId": id, "processId": running[0].ProcessID})
	done := c.UntilMethod("item/completed")
	require.Equal(t, []any{first, "a"},
		[]any{gjson.GetBytes(done.Params, "turnId").Str, gjson.GetBytes(done.Params, "item.id").Str})
	require.Empty(t, c.Terminals(id))
	require.Empty(t, b.Alive(t))
	c.Close()
}

// answerWith sets the answers of a provider; they can read its requests.
func answerWith(p *apptest.Provider, t *testing.T, answers ...func(io.Writer)) {
	p.Server = apptest.NewProvider(t, answers...).Server
	inner := p.Server.Config.Handler
	p.Server.Config.Handler = apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.Record(apptest.ChatRequest{Body: string(body)})
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	})
}

// startBackgroundTree starts a process tree in the background.
func startBackgroundTree(t *testing.T) (c *apptest.Client, thread string, b apptest.ProcessTree) {
	b = apptest.NewProcessTree()
	t.Cleanup(func() { b.Kill(t) })
	p := apptest.NewProvider(t, backgroundAnswer("a", b.Script(), true), apptest.TextAnswer("it runs"),
		apptest.TextAnswer("and on"))
	c = apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread = c.StartTrusted()
	c.Turn(thread, "serve")
	require.Len(t, c.Terminals(thread), 1)
	require.NotEmpty(t, b.Alive(t))
	return c, thread, b
}

// TestTerminalsEndWithTheirOwner ends threads and servers. Their terminals end in time.
func TestTerminalsEndWithTheirOwner(t *testing.T) {
	t.Parallel()
	item := func(c *apptest.Client, thread string) {
		require.Equal(t, "a", apptest.UntilItem[struct{ ID string }](c, "commandExecution").ID)
	}
	for name, end := range map[string]func(c *apptest.Client, thread string){
		"clean": func(c *apptest.Client, thread string) {
			c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": thread})
			item(c, thread)
		},
		"archive": func(c *apptest.Client, thread string) {
			c.SendRequest("thread/archive", apptest.Object{"threadId": thread})
			item(c, thread)
			c.UntilMethod("thread/archived")
		},
		"delete": func(c *apptest.Client, thread string) {
			c.Call("thread/delete", apptest.Object{"threadId": thread})
		},
		"end of stdin": func(c *apptest.Client, thread string) { c.Close() },
		"kill":         func(c *apptest.Client, thread string) { c.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, thread, b := startBackgroundTree(t)
			begin := time.Now()
			end(c, thread)
			require.Eventually(t, func() bool { return len(b.Alive(t)) == 0 }, apptest.CleanupLimit, 5*time.Millisecond)
			require.Less(t, time.Since(begin), apptest.CleanupLimit)
		})
	}
}

// TestEndedTerminalsAreRecorded shuts down with a terminal. The resumed thread has its end, and the
// model is informed.
func TestEndedTerminalsAreRecorded(t *testing.T) {
	t.Parallel()
	p := &apptest.Provider{}
	answerWith(p, t, backgroundAnswer("a", "echo up; sleep 600", false), apptest.TextAnswer("it runs"),
		stdinAnswer(p, "b", ""),
		apptest.TextAnswer("gone"))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartTrusted()
	c.Turn(id, "serve")
	isOutput := func(m apptest.Message) bool { return m.Method == "item/commandExecution/outputDelta" }
	if !slices.ContainsFunc(c.Seen, isOutput) {
		c.Until(isOutput)
	}
	c.Close()
	c = apptest.StartServer(t, home)
	c.Initialize()
	shown := c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns[0].Items
	require.Equal(t, "up\n", gjson.GetBytes(shown[2], "aggregatedOutput").Str)
	c.Turn(id, "is it up?")
	c.Close()
	require.Contains(t, p.Requests()[3].Body, "the server was restarted")
}

// TestTerminalsAreSandboxed requires the same policy as for all other commands.
func TestTerminalsAreSandboxed(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	outside := filepath.Join(home, "made")
	p := apptest.NewProvider(t,
		callAnswer("a", "exec_command", apptest.Object{"cmd": "test -t 0 && echo in >in; echo out >" + outside, "tty": true}),
		apptest.TextAnswer("done"))
	p.Configure(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": project, "sandbox": "workspace-write", "approvalPolicy": "never"})
	c.Turn(id, "try")
	c.Close()
	require.NoFileExists(t, outside)
	if _, err := os.Stat(filepath.Join(project, "in")); err != nil {
		require.Contains(t, p.Requests()[1].Body, "cannot be confined")
	}
}

// TestUserCommandsRunUnsandboxed runs commands of the user, and kills them with their turn.
func TestUserCommandsRunUnsandboxed(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("I see"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	project := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": project, "sandbox": "read-only", "approvalPolicy": "never"})
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo written >here; cat here"})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	require.FileExists(t, filepath.Join(project, "here"))
	c.Turn(id, "what did I do?")
	require.Contains(t, gjson.Get(p.Requests()[0].Body, "messages.1.content").Str,
		"echo written >here; cat here\n</command>\n<result>\nExit code: 0")

	b := apptest.NewProcessTree()
	t.Cleanup(func() { b.Kill(t) })
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": b.Script()})
	c.UntilOutput("children started\n")
	begin := time.Now()
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": ""})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	require.Less(t, time.Since(begin), apptest.CleanupLimit)
	require.Empty(t, b.Alive(t))

	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "sleep 600", "timeoutMs": 100})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Close()
}
