package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// binary is the server as it is shipped, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "appserver-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "appserver")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// patience is how long tests wait for what must come.
const patience = 30 * time.Second

type object = map[string]any

// message is what the server wrote.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Kind string }
	} `json:"error"`
	line string
}

// client talks to a server process over real pipes.
type client struct {
	t        testing.TB
	cmd      *exec.Cmd
	in       io.WriteCloser
	messages chan message
	exited   chan struct{}
	err      error // of the exit, once exited is closed
	lastID   int
	onAsk    func(message) any // answers requests of the server; nil leaves them open
	seen     []message
}

// startServer starts the binary with a home and arguments. The process is ended with
// the test.
func startServer(t testing.TB, home string, args ...string) *client {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, "OPENAI_API_KEY=", "SHELL=/bin/bash")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	c := &client{t: t, cmd: cmd, in: in, messages: make(chan message, 1<<16), exited: make(chan struct{})}
	go c.read(out)
	t.Cleanup(c.kill)
	return c
}

// read ends with the process.
func (c *client) read(out io.Reader) {
	defer close(c.exited)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		m := message{line: string(line)}
		if json.Unmarshal(line, &m) == nil {
			c.messages <- m
		}
	}
	close(c.messages)
	c.err = c.cmd.Wait()
}

func (c *client) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

func (c *client) write(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
}

func (c *client) send(m object) {
	c.t.Helper()
	b, err := json.Marshal(m)
	require.NoError(c.t, err)
	c.write(string(b))
}

func (c *client) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.messages:
		require.True(c.t, ok, "the server ended its output")
		c.seen = append(c.seen, m)
		if m.Method != "" && m.ID != nil && c.onAsk != nil {
			c.send(object{"id": m.ID, "result": c.onAsk(m)})
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("the server says nothing")
	}
	return message{}
}

// until reads up to a message.
func (c *client) until(want func(message) bool) message {
	c.t.Helper()
	for {
		if m := c.next(); want(m) {
			return m
		}
	}
}

func (c *client) untilMethod(method string) message {
	c.t.Helper()
	return c.until(func(m message) bool { return m.Method == method })
}

// request sends a request and reads up to its answer.
func (c *client) request(method string, params any) message {
	c.t.Helper()
	c.lastID++
	id := fmt.Sprint(c.lastID)
	c.send(object{"id": c.lastID, "method": method, "params": params})
	return c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// call is a request that must succeed.
func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	m := c.request(method, params)
	require.Nil(c.t, m.Error, "%s: %s", method, m.line)
	return m.Result
}

func (c *client) initialize() {
	c.t.Helper()
	c.call("initialize", object{"clientInfo": object{"name": "test", "version": "1"}, "capabilities": object{"experimentalApi": true}})
	c.send(object{"method": "initialized"})
}

func (c *client) startThread(params object) string {
	c.t.Helper()
	var r struct{ Thread struct{ ID string } }
	require.NoError(c.t, json.Unmarshal(c.call("thread/start", params), &r))
	return r.Thread.ID
}

func textInput(text string) []object { return []object{{"type": "text", "text": text}} }

// beginTurn gives the turn's id.
func (c *client) beginTurn(thread, text string) string {
	c.t.Helper()
	var r struct{ Turn struct{ ID string } }
	require.NoError(c.t, json.Unmarshal(c.call("turn/start", object{"threadId": thread, "input": textInput(text)}), &r))
	return r.Turn.ID
}

// endedTurn is what turn/completed says.
type endedTurn struct {
	ID     string
	Status string
	Error  *struct{ Message string }
	Items  []struct{ Type, Text string }
}

func (c *client) awaitTurn() endedTurn {
	c.t.Helper()
	var p struct{ Turn endedTurn }
	require.NoError(c.t, json.Unmarshal(c.untilMethod("turn/completed").Params, &p))
	return p.Turn
}

func (c *client) turn(thread, text string) endedTurn {
	c.t.Helper()
	c.beginTurn(thread, text)
	return c.awaitTurn()
}

// close ends the input, reads what is still said, and waits for the exit.
func (c *client) close() {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	c.awaitExit()
}

func (c *client) awaitExit() {
	c.t.Helper()
	for {
		select {
		case m, ok := <-c.messages:
			if ok {
				c.seen = append(c.seen, m)
				continue
			}
			<-c.exited
			require.NoError(c.t, c.err, "exit status")
			return
		case <-time.After(patience):
			c.t.Fatal("the server does not end")
		}
	}
}

// methods lists what was said, answers as "answer".
func (c *client) methods() string {
	var names []string
	for _, m := range c.seen {
		if m.Method == "" {
			m.Method = "answer"
		}
		names = append(names, m.Method)
	}
	return strings.Join(names, "\n")
}
