package mcp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/core/effects/tool"
	"appserver/protocol"
)

func TestMain(m *testing.M) {
	// The idle connections of the transport that tests share are kept for some time.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.Cleanup(func(code int) {
			if dir, err := buildDir(); err == nil {
				_ = os.RemoveAll(dir)
			}
			os.Exit(code)
		}))
}

var buildDir = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "mcp-test-") })

// program builds the server of testdata once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "server")
	out, err := exec.Command("go", "build", "-o", path, "./testdata/server").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return path, nil
})

// rig is a pool whose observer is the test.
type rig struct {
	*mcp.Pool
	t *testing.T

	mu          sync.Mutex
	states      []string // each with server, state and error
	logged      []string
	toolChanges int
	asked       []core.ServerQuestion
	withdrawn   []uint64
	answer      func(q core.ServerQuestion) // runs in its own goroutine
	changed     chan struct{}
}

// patience limits waits that only a busy machine makes long.
const patience = time.Minute

func newRig(t *testing.T) *rig {
	shell := &tool.Shell{}
	return newRigOf(t, 10*time.Millisecond, func(d mcp.Definition, stderr func(string)) (mcp.Process, error) {
		link, err := shell.Connect(tool.Program{Argv: d.Command, Dir: d.Dir, Env: d.Env, Stderr: stderr})
		if err != nil {
			return nil, err
		}
		return link, nil
	})
}

func newRigOf(t *testing.T, delay time.Duration, spawn func(mcp.Definition, func(string)) (mcp.Process, error)) *rig {
	r := &rig{t: t, changed: make(chan struct{}, 1000)}
	r.Pool = mcp.New(mcp.Options{Spawn: spawn, Log: r.log, Delay: delay})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		require.NoError(t, r.Close(ctx))
	})
	return r
}

func (r *rig) log(server, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.logged = append(r.logged, server+": "+line)
}

func (r *rig) State(owner, server, state string, err error) {
	r.mu.Lock()
	text := server + " " + state
	if err != nil {
		text += ": " + err.Error()
	}
	r.states = append(r.states, text)
	r.mu.Unlock()
	r.changed <- struct{}{}
}

func (r *rig) ToolsChanged(string) {
	r.mu.Lock()
	r.toolChanges++
	r.mu.Unlock()
	r.changed <- struct{}{}
}

func (r *rig) Ask(_ string, q core.ServerQuestion) bool {
	r.mu.Lock()
	r.asked = append(r.asked, q)
	answer := r.answer
	r.mu.Unlock()
	r.changed <- struct{}{}
	if answer != nil {
		go answer(q)
	}
	return true
}

func (r *rig) Withdraw(_ string, question uint64) {
	r.mu.Lock()
	r.withdrawn = append(r.withdrawn, question)
	r.mu.Unlock()
	r.changed <- struct{}{}
}

// until waits for a condition of the reported states and questions.
func (r *rig) until(is func() bool) {
	r.t.Helper()
	limit := time.After(patience)
	for {
		r.mu.Lock()
		done := is()
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-r.changed:
		case <-limit:
			r.mu.Lock()
			defer r.mu.Unlock()
			require.Fail(r.t, "the condition was not met", "%q", r.states)
		}
	}
}

func (r *rig) untilState(text string) {
	r.t.Helper()
	r.until(func() bool { return len(r.states) > 0 && strings.Contains(r.states[len(r.states)-1], text) })
}

// define returns the definition of the test server.
func define(t *testing.T, name string, args ...string) mcp.Definition {
	t.Helper()
	path, err := program()
	require.NoError(t, err, path)
	return mcp.Definition{Name: name, Command: append([]string{path}, args...), Dir: t.TempDir(),
		Env:            []string{"PATH=" + os.Getenv("PATH")},
		StartupTimeout: patience, ToolTimeout: patience}
}

// ready connects an owner and waits for its tools.
func (r *rig) ready(definitions ...mcp.Definition) []core.ServerTool {
	r.Open("me", definitions, r)
	return r.Await(context.Background(), "me", patience)
}

func (r *rig) call(name, arguments string) core.ToolCalled {
	return r.Call(context.Background(), "me",
		core.CallTool{ID: 1, CallID: "c", Server: "s", Tool: name, Arguments: []byte(arguments)}, nil)
}

// texts returns the content of a result.
func (r *rig) texts(c core.ToolCalled) string {
	r.t.Helper()
	require.NoError(r.t, c.Err)
	var all []string
	for _, block := range c.Result.Content {
		all = append(all, string(block))
	}
	return strings.Join(all, " ")
}

func accept(content string) protocol.McpServerElicitationRequestResponse {
	return protocol.McpServerElicitationRequestResponse{Action: protocol.ElicitAccept, Content: []byte(content)}
}
