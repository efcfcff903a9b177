package e2e

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// clientAsk is a request of the server that a client must answer.
type clientAsk struct {
	method string
	calls  []apptest.ToolCall
	answer apptest.Object
	// ends is set if the turn ends with its server, because the call had started.
	ends bool
}

// clientAsks returns one question of each kind.
func clientAsks() map[string]clientAsk {
	return map[string]clientAsk{
		"a command": {"item/commandExecution/requestApproval", apptest.ShellCall("touch made"),
			apptest.Object{"decision": "accept"}, false},
		"a patch": {"item/fileChange/requestApproval", apptest.OneCall("apply_patch",
			apptest.Object{"input": "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch"}),
			apptest.Object{"decision": "accept"}, false},
		"a question to the user": {"item/tool/requestUserInput", apptest.OneCall("request_user_input",
			apptest.Object{"questions": []apptest.Object{{"id": "db", "header": "Store", "question": "Which?",
				"options": []apptest.Object{{"label": "A", "description": "a"}}}}}),
			apptest.Object{"answers": apptest.Object{"db": apptest.Object{"answers": []string{"A"}}}}, false},
		"a tool of the client": {"item/tool/call", apptest.OneCall("ticket", apptest.Object{}),
			apptest.Object{"contentItems": []apptest.Object{}, "success": true}, false},
		"a tool of an MCP server": {"mcpServer/elicitation/request", apptest.OneCall("mcp__docs__write", apptest.Object{}),
			apptest.Object{"action": "accept", "content": apptest.Object{}, "_meta": nil}, false},
		"an MCP server that asks": {"mcpServer/elicitation/request", apptest.OneCall("mcp__docs__ask", apptest.Object{}),
			apptest.Object{"action": "accept", "content": apptest.Object{"name": "Ada"}, "_meta": nil}, true},
	}
}

// askedServer returns the arguments of a server whose model asks q, and its home.
func askedServer(t *testing.T) (home string, args []string) {
	t.Helper()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	m := apptest.NewScriptedModel(t)
	home = apptest.ShortDir(t)
	m.Configure(t, home)
	return home, []string{"-c", "features.default_mode_request_user_input=true",
		"-c", "mcp_servers.docs.command=" + program, "-c", "mcp_servers.docs.required=true"}
}

// ask starts a thread and a turn, and returns when the client is asked.
func (q clientAsk) ask(t *testing.T, c *apptest.Client) (thread string, asked apptest.Message) {
	t.Helper()
	settings := ticketTool()
	settings["cwd"], settings["approvalPolicy"], settings["sandbox"] = t.TempDir(), "untrusted", "danger-full-access"
	thread = c.StartThread(settings)
	c.BeginTurn(thread, apptest.ScriptText(q.calls))
	return thread, c.Until(isAsk(q.method))
}

// answerNext resumes a thread, answers its question and requires that the turn completes.
func (q clientAsk) answerNext(t *testing.T, c *apptest.Client, thread string) (asked apptest.Message) {
	t.Helper()
	c.SendRequest("thread/resume", apptest.Object{"threadId": thread})
	asked = c.Until(isAsk(q.method))
	c.Send(apptest.Object{"id": asked.ID, "result": q.answer})
	require.Equal(t, "completed", c.AwaitTurn().Status)
	return asked
}

// TestAClientThatEndsWhileAskedEndsItsServer ends a client on standard input and output while it is asked. The server
// exits at once. The turn continues with the answer of the next client, unless its call had started.
func TestAClientThatEndsWhileAskedEndsItsServer(t *testing.T) {
	t.Parallel()
	for name, q := range clientAsks() {
		for ending, end := range map[string]func(c *apptest.Client){
			"input":            func(c *apptest.Client) { require.NoError(t, c.In.Close()) },
			"output":           func(c *apptest.Client) { require.NoError(t, c.Out.Close()) },
			"output and input": func(c *apptest.Client) { require.NoError(t, c.Out.Close()); require.NoError(t, c.In.Close()) },
		} {
			if ending == "output" && runtime.GOOS != "linux" {
				continue // noticed with the next message
			}
			t.Run(name+", "+ending, func(t *testing.T) {
				t.Parallel()
				home, args := askedServer(t)
				c := apptest.StartServer(t, home, args...)
				c.Initialize()
				thread, _ := q.ask(t, c)
				begin := time.Now()
				end(c)
				c.AwaitExit()
				require.Less(t, time.Since(begin), apptest.CleanupLimit)

				c = apptest.StartServer(t, home, args...)
				c.Initialize()
				if q.ends {
					require.Equal(t, "interrupted", c.ReadThread(thread).Turns[0].Status)
				} else {
					q.answerNext(t, c, thread)
				}
				c.Close()
			})
		}
	}
}

// TestAClientThatLeavesWhileAskedLeavesTheQuestion ends a client on a socket while it is asked. The server continues,
// and the next client that resumes the thread is asked with the same id.
func TestAClientThatLeavesWhileAskedLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	for name, q := range clientAsks() {
		for ending, end := range map[string]func(c *apptest.WebSocketClient, thread string){
			"reset": func(c *apptest.WebSocketClient, _ string) { c.Abort() },
			"close frame": func(c *apptest.WebSocketClient, _ string) {
				require.NoError(t, c.In.Close())
				<-c.Exited
			},
			"unsubscribed": func(c *apptest.WebSocketClient, thread string) {
				c.Call("thread/unsubscribe", apptest.Object{"threadId": thread})
			},
		} {
			t.Run(name+", "+ending, func(t *testing.T) {
				t.Parallel()
				home, args := askedServer(t)
				h := apptest.LaunchDaemon(t, apptest.ServerCommand(t, home, append(args, "--listen", "unix://")...), home)
				c := h.ConnectInitialized()
				thread, asked := q.ask(t, c.Client)
				end(c, thread)
				next := h.ConnectInitialized()
				require.Equal(t, string(asked.ID), string(q.answerNext(t, next.Client, thread).ID))
				h.Terminate()
			})
		}
	}
}

// TestAClientThatHalfClosesWhileAskedLeavesTheQuestion shuts a client's side of a socket down for writing.
func TestAClientThatHalfClosesWhileAskedLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	q := clientAsks()["a command"]
	home, args := askedServer(t)
	h := apptest.LaunchDaemon(t, apptest.ServerCommand(t, home, append(args, "--listen", "unix://")...), home)
	var conn net.Conn
	dial := func(ctx context.Context, _, _ string) (c net.Conn, err error) {
		conn, err = new(net.Dialer).DialContext(ctx, "unix", h.Socket())
		return conn, err
	}
	ws, _, err := websocket.Dial(t.Context(), h.Address(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}}})
	require.NoError(t, err)
	ws.SetReadLimit(-1)
	c := apptest.ConnectWebSocket(t, ws)
	c.Initialize()
	thread, asked := q.ask(t, c.Client)
	require.NoError(t, conn.(*net.UnixConn).CloseWrite())
	<-c.Exited
	require.Equal(t, string(asked.ID), string(q.answerNext(t, h.ConnectInitialized().Client, thread).ID))
	h.Terminate()
}

// TestAnEphemeralTurnEndsWithTheInputOfItsAskedClient ends the input of a client that is asked in a thread that is not
// stored. The turn cannot continue, so the client gets its end.
func TestAnEphemeralTurnEndsWithTheInputOfItsAskedClient(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "untrusted", "ephemeral": true})
	c.BeginTurn(id, "run: touch made")
	c.Until(isAsk("item/commandExecution/requestApproval"))
	begin := time.Now()
	require.NoError(t, c.In.Close())
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	c.AwaitExit()
	require.Less(t, time.Since(begin), apptest.CleanupLimit)
}
