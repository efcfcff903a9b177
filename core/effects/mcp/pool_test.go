package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/protocol"
)

func TestToolsHaveValidNames(t *testing.T) {
	r := newRig(t)
	d := define(t, "my.long-server")
	d.Disabled = []string{"crash"}
	d.Approval, d.ToolApproval = "prompt", map[string]string{"echo": "approve"}
	tools := r.ready(d)
	byTool := map[string]core.ServerTool{}
	for _, tool := range tools {
		byTool[tool.Tool] = tool
	}
	require.NotContains(t, byTool, "crash")
	wipe := byTool["wipe.out"]
	require.Equal(t, "mcp__my_long_server__wipe_out", wipe.Name)
	require.Equal(t, "mcp__my_long_server", wipe.Namespace)
	require.Equal(t, "Does wipe.out.", wipe.Description)
	require.JSONEq(t, `{"type":"object","properties":{}}`, string(wipe.Parameters))
	require.True(t, *wipe.Destructive)
	require.Nil(t, byTool["write"].ReadOnly)
	require.Equal(t, "prompt", wipe.Approval)
	require.Equal(t, "approve", byTool["echo"].Approval)
	require.ErrorContains(t, r.Call(context.Background(), "me", core.CallTool{Server: d.Name, Tool: "crash"}, nil).Err,
		"disabled")
}

func TestLongAndEqualNamesGetAHash(t *testing.T) {
	r := newRig(t)
	long := strings.Repeat("x", 70)
	seen := map[string]bool{}
	for _, name := range []string{long, long + "y", "a.b", "a_b"} {
		d := define(t, name)
		d.Enabled = []string{"echo"}
		r.Open(name, []mcp.Definition{d}, r)
	}
	a, b := define(t, "a.b"), define(t, "a_b")
	a.Enabled, b.Enabled = []string{"echo"}, []string{"echo"}
	l1, l2 := define(t, long), define(t, long+"y")
	l1.Enabled, l2.Enabled = []string{"echo"}, []string{"echo"}
	for _, tool := range r.ready(a, b, l1, l2) {
		require.LessOrEqual(t, len(tool.Name), 64)
		require.Regexp(t, "^[A-Za-z0-9_]+$", tool.Name)
		require.False(t, seen[tool.Name], tool.Name)
		seen[tool.Name] = true
	}
	require.Len(t, seen, 4)
}

func TestResultsArePassedOnUnchanged(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	require.JSONEq(t, `{"type":"text","text":"echo {\"x\":1}"}`, r.texts(r.call("echo", `{"x":1}`)))
	require.Contains(t, r.texts(r.call("mixed", `{}`)), `"mimeType":"image/png"`)
	structured := r.call("structured", `{}`)
	require.NoError(t, structured.Err)
	require.JSONEq(t, `{"n":1}`, string(structured.Result.Structured))
	failed := r.call("fail", `{}`)
	require.NoError(t, failed.Err)
	require.True(t, failed.Result.Failed)
	require.ErrorContains(t, r.call("refuse", `{}`).Err, "tool call failed for `s/refuse`")
	require.ErrorContains(t, r.call("refuse", `{}`).Err, "refused")
	require.ErrorContains(t, r.call("none", `{}`).Err, "none")
	require.ErrorContains(t, r.Call(context.Background(), "nobody", core.CallTool{Server: "s"}, nil).Err,
		"unknown MCP server 's'")
}

func TestOtherOutputIsLogged(t *testing.T) {
	r := newRig(t)
	require.NotEmpty(t, r.ready(define(t, "s", "-garbage")))
	require.Contains(t, r.texts(r.call("echo", `{}`)), "echo")
	r.mu.Lock()
	defer r.mu.Unlock()
	logged := strings.Join(r.logged, "\n")
	require.Contains(t, logged, "s: not a message: Welcome to the server!")
	require.Contains(t, logged, `s: not a message: {"level":"info"`)
	for _, line := range r.logged {
		require.Less(t, len(line), 2000, "lines in the log are bounded")
	}
}

// TestCallsSurviveAServerThatEnds: it ends after an answer.
func TestCallsSurviveAServerThatEnds(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	for i := range 3 {
		require.Contains(t, r.texts(r.call("leave", `{}`)), "bye")
		r.until(func() bool { return strings.Count(strings.Join(r.states, "\n"), "s failed") == i+1 })
		require.Contains(t, r.texts(r.call("write", `{}`)), "written", "it is not sent to the ended program")
	}
}

// TestCallsOfCrashedServersAreRepeatedIfTheyOnlyRead crashes the server in calls.
func TestCallsOfCrashedServersAreRepeatedIfTheyOnlyRead(t *testing.T) {
	r := newRig(t)
	d := define(t, "s")
	r.ready(d)
	require.Contains(t, r.texts(r.call("crash-once", `{}`)), "survived", "it is repeated")
	err := r.call("wreck", `{}`).Err
	require.ErrorContains(t, err, "it is unknown whether the tool ran")
	runs, readErr := os.ReadFile(filepath.Join(d.Dir, "wrecked"))
	require.NoError(t, readErr)
	require.Equal(t, "x", string(runs), "it is not repeated")
}

// The call in flight fails, and the server is started again.
func TestCrashFailsTheCallAndRestartsTheServer(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	require.ErrorContains(t, r.call("crash", `{}`).Err, "the connection to the MCP server `s` was lost")
	require.Contains(t, r.texts(r.call("echo", `{}`)), "echo", "the next call waits for the restart")
	tools, pending := r.Tools("me")
	require.NotEmpty(t, tools)
	require.False(t, pending)
	r.until(func() bool {
		return strings.Contains(strings.Join(r.states, "\n"),
			"s failed: the connection to the MCP server `s` was lost: it ended with exit code 7; its last line of standard error is: out of cheese")
	})
}

func TestFailedServerIsRetried(t *testing.T) {
	r := newRig(t)
	require.NotEmpty(t, func() []core.ServerTool {
		r.Open("me", []mcp.Definition{define(t, "s", "-once", filepath.Join(t.TempDir(), "made"))}, r)
		r.untilState("s ready")
		tools, _ := r.Tools("me")
		return tools
	}())
	require.Equal(t, "s starting", r.states[0])
	require.Contains(t, r.states[1], "s failed: MCP client for `s` failed to start: it ended with exit code 4")
}

// Consecutive failures with the same reason are reported once.
func TestRepeatedFailureIsReportedOnce(t *testing.T) {
	r := newRig(t)
	tries := filepath.Join(t.TempDir(), "tries")
	require.Empty(t, r.ready(define(t, "s", "-fail", "-tries", tries),
		mcp.Definition{Name: "gone", Command: []string{"/no/such/program"}, StartupTimeout: time.Second}))
	r.until(func() bool { return len(r.states) == 4 })
	require.Eventually(t, func() bool {
		info, err := os.Stat(tries)
		return err == nil && info.Size() > 4
	}, patience, 10*time.Millisecond)
	status := r.Status(context.Background(), "me", "s", true)
	require.Len(t, status, 1)
	require.Contains(t, *status[0].ToolsError, "no database")
	r.mu.Lock()
	defer r.mu.Unlock()
	failures := 0
	for _, state := range r.states {
		if strings.Contains(state, "s failed: ") {
			failures++
		}
	}
	require.Equal(t, 1, failures, "%q", r.states)
	require.Contains(t, strings.Join(r.states, "\n"),
		"gone failed: MCP client for `gone` failed to start: cannot start \"/no/such/program\"")
}

func TestSilentServerTimesOut(t *testing.T) {
	r := newRig(t)
	d := define(t, "s", "-never")
	r.Open("me", []mcp.Definition{d}, r)
	_, pending := r.Tools("me")
	require.True(t, pending, "Open does not wait")
	require.Empty(t, r.Await(context.Background(), "me", 20*time.Millisecond))
	d.StartupTimeout = 300 * time.Millisecond
	r.Open("other", []mcp.Definition{d}, r)
	r.untilState("timed out after 300ms: if it is only slow, set startup_timeout_sec below [mcp_servers.s]")
}

func TestHangingCallTimesOut(t *testing.T) {
	r := newRig(t)
	d := define(t, "s")
	d.ToolTimeout = time.Second
	r.ready(d)
	require.ErrorContains(t, r.call("hang", `{}`).Err, "timed out awaiting tools/call after 1s")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	require.Error(t, r.Call(ctx, "me", core.CallTool{Server: "s", Tool: "hang", Arguments: []byte("{}")}, nil).Err)
	require.Contains(t, r.texts(r.call("echo", `{}`)), "echo", "the server serves other calls meanwhile")
}

func TestResultsAreBounded(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	text := r.texts(r.call("huge", `{"bytes":5000000}`))
	require.Less(t, len(text), 2<<20)
	require.Contains(t, text, "bytes cut ...")
	require.ErrorContains(t, r.call("huge", `{"bytes":20000000}`).Err,
		"a line of the server's output has more than 16 MiB")
	require.Contains(t, r.texts(r.call("echo", `{}`)), "echo", "the connection is restored")
}

func TestProgressIsPassedOn(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	progress := make(chan string, 10)
	called := r.Call(context.Background(), "me", core.CallTool{Server: "s", Tool: "progress", Arguments: []byte(`{}`)},
		func(m string) { progress <- m })
	require.Contains(t, r.texts(called), "there")
	require.Equal(t, "looking", <-progress)
	require.Equal(t, "2/3", <-progress)
}

func TestQuestionsStopTheTimerOfTheCall(t *testing.T) {
	r := newRig(t)
	d := define(t, "s")
	d.ToolTimeout = time.Second
	r.ready(d)
	r.answer = func(q core.ServerQuestion) {
		time.AfterFunc(2*d.ToolTimeout, func() { r.Answer(q.Question, accept(`{"name":"Ada"}`)) })
	}
	require.Contains(t, r.texts(r.call("ask", `{}`)), "accept Ada")
	require.Equal(t, "Your name?", r.asked[0].Message)
	require.Equal(t, "form", r.asked[0].Mode)
	require.JSONEq(t, `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
		string(r.asked[0].Schema))

	r.answer = func(q core.ServerQuestion) {
		r.Answer(q.Question, protocol.McpServerElicitationRequestResponse{Action: protocol.ElicitDecline})
		r.Answer(q.Question, accept(`{}`)) // ignored: the question is answered
	}
	require.Contains(t, r.texts(r.call("ask", `{}`)), "decline")
}

// TestQuestionsStopTheTimersOfOtherCalls while they are open, also of calls that start meanwhile.
func TestQuestionsStopTheTimersOfOtherCalls(t *testing.T) {
	const timeout = time.Second
	for _, open := range []time.Duration{timeout / 2, 2 * timeout} {
		r := newRig(t)
		d := define(t, "s")
		d.ToolTimeout = timeout
		r.ready(d)
		r.answer = func(q core.ServerQuestion) {
			time.AfterFunc(open, func() { r.Answer(q.Question, accept(`{"name":"Ada"}`)) })
		}
		asking := make(chan core.ToolCalled, 1)
		go func() { asking <- r.call("ask", `{}`) }()
		r.until(func() bool { return len(r.asked) == 1 })
		ctx, cancel := context.WithTimeout(context.Background(), 20*timeout)
		defer cancel()
		hung := r.Call(ctx, "me", core.CallTool{Server: "s", Tool: "hang", Arguments: []byte(`{}`)}, nil)
		require.ErrorContains(t, hung.Err, "timed out awaiting tools/call after 1s", open)
		require.Greater(t, hung.Duration, open)
		require.Contains(t, r.texts(<-asking), "accept Ada")
	}
}

// TestCallWithEndlessQuestionsTimesOut: only the time of the user does not count.
func TestCallWithEndlessQuestionsTimesOut(t *testing.T) {
	r := newRig(t)
	d := define(t, "s")
	d.ToolTimeout = 200 * time.Millisecond
	r.ready(d)
	r.answer = func(q core.ServerQuestion) { r.Answer(q.Question, accept(`{}`)) }
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	nagged := r.Call(ctx, "me", core.CallTool{Server: "s", Tool: "nag", Arguments: []byte(`{}`)}, nil)
	require.ErrorContains(t, nagged.Err, "timed out awaiting tools/call after 200ms")
}

// TestCallsTimeOutIfTheProgramDoesNotRead: the arguments are longer than a pipe. Later calls time
// out as well, and then the connection is restored.
func TestCallsTimeOutIfTheProgramDoesNotRead(t *testing.T) {
	r := newRig(t)
	d := define(t, "s")
	d.Command = []string{"/bin/sh", "-c", "read a; echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + introduction +
		"}'; " +
		"read b; read c; echo '{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":" + tools + "}'; exec sleep 1000"}
	d.ToolTimeout = time.Second
	require.Len(t, r.ready(d), 1)
	called := make(chan core.ToolCalled, 2)
	for _, arguments := range []string{`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, `{}`} {
		go func() { called <- r.call("t", arguments) }()
	}
	for range 2 {
		select {
		case c := <-called:
			require.ErrorContains(t, c.Err, "timed out awaiting tools/call after 1s")
		case <-time.After(patience):
			require.Fail(t, "a call did not end")
		}
	}
	r.until(func() bool { return strings.Count(strings.Join(r.states, "\n"), "s ready") == 2 })
}

func TestQuestionsAreWithdrawnWithTheirCall(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	ctx, cancel := context.WithCancel(context.Background())
	r.answer = func(core.ServerQuestion) { cancel() }
	require.Error(t, r.Call(ctx, "me", core.CallTool{Server: "s", Tool: "ask", Arguments: []byte(`{}`)}, nil).Err)
	r.until(func() bool { return len(r.withdrawn) == 1 })
	require.Equal(t, r.asked[0].Question, r.withdrawn[0])
}

func TestChangedToolsAreListedAgain(t *testing.T) {
	r := newRig(t)
	before := len(r.ready(define(t, "s")))
	require.Contains(t, r.texts(r.call("grow", `{}`)), "another tool")
	require.Eventually(t, func() bool {
		tools, _ := r.Tools("me")
		return len(tools) == before+1
	}, patience, 10*time.Millisecond)
}

func TestOpenKeepsUnchangedConnections(t *testing.T) {
	r := newRig(t)
	one, two := define(t, "s"), define(t, "other")
	r.ready(one, two)
	pid := r.texts(r.call("child", `{}`))
	changed := two
	changed.ToolTimeout++
	r.ready(one, changed)
	r.mu.Lock()
	starts := strings.Count(strings.Join(r.states, "\n"), "s starting")
	r.mu.Unlock()
	require.Equal(t, 1, starts)
	require.NotEmpty(t, pid)
	r.ready(one)
	tools, _ := r.Tools("me")
	for _, tool := range tools {
		require.Equal(t, "s", tool.Server)
	}
	r.Disconnect("me")
	tools, _ = r.Tools("me")
	require.Empty(t, tools)
	require.ErrorContains(t, r.call("echo", `{}`).Err, "unknown MCP server")
}

func TestStatusHasToolsAndResources(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	s := r.Status(context.Background(), "me", "", true)[0]
	require.Equal(t, "connected", *s.RuntimeStatus)
	require.Equal(t, "1.2.3", s.ServerInfo.Version)
	require.Equal(t, "A test", *s.ServerInfo.Title)
	require.Contains(t, s.Tools, "wipe.out")
	require.Len(t, s.Resources, 1)
	require.Len(t, s.ResourceTemplates, 1)
	require.Nil(t, s.ToolsError)
	require.Empty(t, r.Status(context.Background(), "me", "", false)[0].Resources)
	require.Empty(t, r.Status(context.Background(), "me", "none", false))
	contents, err := r.Read(context.Background(), "me", "s", "mem://a")
	require.NoError(t, err)
	require.Contains(t, string(contents[0]), "content of a")
	_, err = r.Read(context.Background(), "me", "s", "mem://b")
	require.ErrorContains(t, err, "no such thing")
}

// service starts the test server as a service, and returns its address.
func service(t *testing.T, args ...string) string {
	path, err := program()
	require.NoError(t, err, path)
	cmd := exec.Command(path, append([]string{"-http"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(address)
}

func TestServicesAreReachedByHTTP(t *testing.T) {
	r := newRig(t)
	d := mcp.Definition{Name: "s", URL: service(t, "-token", "tok") + "/mcp?x=1", Bearer: true,
		Headers:        map[string]string{"Authorization": "Bearer tok"},
		StartupTimeout: patience, ToolTimeout: 10 * time.Second}
	require.NotEmpty(t, r.ready(d))
	require.Contains(t, r.texts(r.call("echo", `{"y":2}`)), "echo")
	r.answer = func(q core.ServerQuestion) { r.Answer(q.Question, accept(`{"name":"Bob"}`)) }
	require.Contains(t, r.texts(r.call("ask", `{}`)), "accept Bob")
	s := r.Status(context.Background(), "me", "", false)[0]
	require.Equal(t, strings.TrimSuffix(d.URL, "/mcp?x=1"), *s.HTTPOrigin)
	require.Equal(t, "bearerToken", s.AuthStatus)
}

func TestServiceThatRequiresALogin(t *testing.T) {
	r := newRig(t)
	require.Empty(t, r.ready(mcp.Definition{Name: "s", URL: service(t, "-token", "tok"),
		StartupTimeout: patience}))
	r.untilState("it requires a valid token: set or correct bearer_token_env_var")
}

func TestProblemOfTheConfigurationIsReported(t *testing.T) {
	r := newRig(t)
	require.Empty(t, r.ready(mcp.Definition{Name: "s", URL: "http://127.0.0.1:1/", Problem: errors.New("no token"),
		StartupTimeout: time.Second}))
	r.untilState("s failed: MCP client for `s` failed to start: no token")
}

// All processes of a program end with its connection.
func TestCloseEndsAllProcesses(t *testing.T) {
	r := newRig(t)
	r.ready(define(t, "s"))
	var block struct{ Text string }
	require.NoError(t, json.Unmarshal([]byte(r.texts(r.call("child", `{}`))), &block))
	require.DirExists(t, "/proc/"+block.Text)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, r.Close(ctx))
	if stat, err := os.ReadFile("/proc/" + block.Text + "/stat"); err == nil {
		require.Contains(t, string(stat), ") Z ", "only a zombie is left")
	}
	r.Open("late", []mcp.Definition{define(t, "s")}, r)
	tools, pending := r.Tools("late")
	require.Empty(t, tools)
	require.False(t, pending, "a closed pool does not connect")
}
