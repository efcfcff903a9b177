package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

var sessionLine = regexp.MustCompile(`session ID (\d+)`)

// typesTo answers with a call that types on the session that the model was told last.
func (p *provider) typesTo(id, chars string) func(io.Writer) {
	return func(w io.Writer) {
		asked := p.asked()
		found := sessionLine.FindAllStringSubmatch(asked[len(asked)-1].Body, -1)
		calls(id, "write_stdin", object{"session_id": json.Number(found[len(found)-1][1]), "chars": chars})(w)
	}
}

// staysBehind answers with a call that has a command go on in the background.
func staysBehind(id, script string, tty bool) func(io.Writer) {
	return calls(id, "exec_command", object{"cmd": script, "tty": tty, "yield_time_ms": 250})
}

// terminals are those that run in the background.
func (c *client) terminals(thread string) (list []struct{ ItemID, ProcessID, Command string }) {
	c.t.Helper()
	answer := c.call("thread/backgroundTerminals/list", object{"threadId": thread})
	require.NoError(c.t, json.Unmarshal([]byte(gjson.GetBytes(answer, "data").Raw), &list))
	require.Equal(c.t, gjson.Null, gjson.GetBytes(answer, "nextCursor").Type)
	return list
}

// TestBinaryTerminals has a model leave a command running, talk to it in another turn, and
// the client end it. An interrupted turn does not.
func TestBinaryTerminals(t *testing.T) {
	t.Parallel()
	b := newBrood()
	t.Cleanup(func() { b.end(t) })
	p := &provider{}
	p.answerWith(t, staysBehind("a", "read line; echo got $line; "+b.script(), true), says("it runs"),
		p.typesTo("b", "hello\n"), p.typesTo("c", ""))
	c := startServer(t, p.home(t))
	c.initialize()
	id := c.startTrusted()
	first := c.beginTurn(id, "serve")
	c.awaitTurn()
	running := c.terminals(id)
	require.Len(t, running, 1)
	require.Equal(t, "a", running[0].ItemID)

	second := c.beginTurn(id, "talk to it")
	typed := c.untilMethod("item/commandExecution/terminalInteraction")
	require.Equal(t, []any{second, "a", "hello\n"}, []any{gjson.GetBytes(typed.Params, "turnId").Str, gjson.GetBytes(typed.Params, "itemId").Str, gjson.GetBytes(typed.Params, "stdin").Str})
	c.untilMethod("item/commandExecution/terminalInteraction")
	c.call("turn/interrupt", object{"threadId": id, "turnId": second})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	require.Contains(t, p.asked()[3].Body, `got hello`)
	require.Len(t, c.terminals(id), 1)
	require.NotEmpty(t, b.alive(t))

	c.call("thread/backgroundTerminals/terminate", object{"threadId": id, "processId": running[0].ProcessID})
	done := c.untilMethod("item/completed")
	require.Equal(t, []any{first, "a"}, []any{gjson.GetBytes(done.Params, "turnId").Str, gjson.GetBytes(done.Params, "item.id").Str})
	require.Empty(t, c.terminals(id))
	require.Empty(t, b.alive(t))
	c.close()
}

// answerWith is newProvider for a provider whose answers look at its requests.
func (p *provider) answerWith(t *testing.T, answers ...func(io.Writer)) {
	p.server = newProvider(t, answers...).server
	inner := p.server.Config.Handler
	p.server.Config.Handler = completions(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.keep(chatRequest{Body: string(body)})
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	})
}

// leftRunning has a model leave a brood running in the background.
func leftRunning(t *testing.T) (c *client, thread string, b brood) {
	b = newBrood()
	t.Cleanup(func() { b.end(t) })
	p := newProvider(t, staysBehind("a", b.script(), true), says("it runs"), says("and on"))
	c = startServer(t, p.home(t))
	c.initialize()
	thread = c.startTrusted()
	c.turn(thread, "serve")
	require.Len(t, c.terminals(thread), 1)
	require.NotEmpty(t, b.alive(t))
	return c, thread, b
}

// TestBinaryEndsTerminals with whatever they belong to, in time.
func TestBinaryEndsTerminals(t *testing.T) {
	t.Parallel()
	item := func(c *client, thread string) {
		require.Equal(t, "a", untilItem[struct{ ID string }](c, "commandExecution").ID)
	}
	for name, end := range map[string]func(c *client, thread string){
		"clean": func(c *client, thread string) {
			c.call("thread/backgroundTerminals/clean", object{"threadId": thread})
			item(c, thread)
		},
		"archive": func(c *client, thread string) {
			c.ask("thread/archive", object{"threadId": thread})
			item(c, thread)
			c.untilMethod("thread/archived")
		},
		"delete":       func(c *client, thread string) { c.call("thread/delete", object{"threadId": thread}) },
		"end of stdin": func(c *client, thread string) { c.close() },
		"kill":         func(c *client, thread string) { c.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, thread, b := leftRunning(t)
			begin := time.Now()
			end(c, thread)
			require.Eventually(t, func() bool { return len(b.alive(t)) == 0 }, promised, 5*time.Millisecond)
			require.Less(t, time.Since(begin), promised)
		})
	}
}

// TestBinaryTerminalsEndInTheRollout: what the server ended is in the thread that is
// resumed, and the model is told that the session is gone.
func TestBinaryTerminalsEndInTheRollout(t *testing.T) {
	t.Parallel()
	p := &provider{}
	p.answerWith(t, staysBehind("a", "echo up; sleep 600", false), says("it runs"), p.typesTo("b", ""), says("gone"))
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	id := c.startTrusted()
	c.turn(id, "serve")
	c.close()
	c = startServer(t, home)
	c.initialize()
	shown := c.threadOf("thread/resume", object{"threadId": id}).Turns[0].Items
	require.Equal(t, "up\n", gjson.GetBytes(shown[2], "aggregatedOutput").Str)
	c.turn(id, "is it up?")
	c.close()
	require.Contains(t, p.asked()[3].Body, "it ended with the server")
}

// TestBinaryConfinesTerminals as all other commands.
func TestBinaryConfinesTerminals(t *testing.T) {
	t.Parallel()
	project, home := t.TempDir(), t.TempDir()
	outside := filepath.Join(home, "made")
	p := newProvider(t, calls("a", "exec_command", object{"cmd": "test -t 0 && echo in >in; echo out >" + outside, "tty": true}), says("done"))
	p.configure(t, home)
	c := startServer(t, home)
	c.initialize()
	id := c.startThread(object{"cwd": project, "sandbox": "workspace-write", "approvalPolicy": "never"})
	c.turn(id, "try")
	c.close()
	require.NoFileExists(t, outside)
	if _, err := os.Stat(filepath.Join(project, "in")); err != nil {
		require.Contains(t, p.asked()[1].Body, "cannot be confined")
	}
}

// TestBinaryRunsTheUsersCommands outside of the sandbox, and ends them with their turn.
func TestBinaryRunsTheUsersCommands(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("I see"))
	c := startServer(t, p.home(t))
	c.initialize()
	project := t.TempDir()
	id := c.startThread(object{"cwd": project, "sandbox": "read-only", "approvalPolicy": "never"})
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo written >here; cat here"})
	require.Equal(t, "completed", c.awaitTurn().Status)
	require.FileExists(t, filepath.Join(project, "here"))
	c.turn(id, "what did I do?")
	require.Contains(t, gjson.Get(p.asked()[0].Body, "messages.1.content").Str, "echo written >here; cat here\n</command>\n<result>\nExit code: 0")

	b := newBrood()
	t.Cleanup(func() { b.end(t) })
	c.call("thread/shellCommand", object{"threadId": id, "command": b.script()})
	c.untilOutput("hatched\n")
	begin := time.Now()
	c.call("turn/interrupt", object{"threadId": id, "turnId": ""})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	require.Less(t, time.Since(begin), promised)
	require.Empty(t, b.alive(t))

	c.call("thread/shellCommand", object{"threadId": id, "command": "sleep 600", "timeoutMs": 100})
	require.Equal(t, "completed", c.awaitTurn().Status)
	c.close()
}
