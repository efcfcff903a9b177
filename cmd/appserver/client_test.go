package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if err := watchRaces(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := errors.Join(reportRaces(), reportWire()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		if dir, err := buildDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// buildDir is where tests put what they build, for any user to run.
var buildDir = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "appserver-test-")
	return dir, errors.Join(err, os.Chmod(dir, 0o755))
})

// binary is the server as it is shipped, built once for all tests.
var binary = sync.OnceValues(func() (string, error) { return build("appserver", ".") })

func build(name, pkg string) (string, error) {
	dir, err := buildDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if raced {
		build = exec.Command("go", "build", "-race", "-o", path, pkg)
	}
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// patience is how long tests wait for what must come.
var patience = time.Duration(weight) * 30 * time.Second

type object = map[string]any

// message is what the server wrote.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *failure        `json:"error"`
	line   string
}

type failure struct {
	Code    int
	Message string
	Data    struct {
		Kind, Field    string
		TurnID         string
		CodexErrorInfo json.RawMessage
	}
}

// client talks to a server process over real pipes.
type client struct {
	t        testing.TB
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      io.Closer
	messages chan message
	exited   chan struct{}
	err      error // of the exit, once exited is closed
	lastID   int
	stamped  bool                         // messages carry "jsonrpc", which other servers insist on
	reading  sync.Mutex                   // held by stopReading
	onAsk    func(message) any            // answers requests of the server; nil leaves them open
	onLine   func(direction, line string) // told what was sent, "->", and looked at, "<-"
	seen     []message
	wire     *wire
}

// serverCommand is the binary with a home and arguments.
func serverCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	return processCommand(t, home, path, args...)
}

// processCommand is a server with a home and arguments. What it writes to stderr is shown
// where the test fails.
func processCommand(t testing.TB, home, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, "HOME="+home, "OPENAI_API_KEY=", "SHELL=/bin/bash")
	stderr, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	cmd.Stderr = stderr
	t.Cleanup(func() {
		text, err := os.ReadFile(stderr.Name())
		if bytes.Contains(text, []byte("the server has a fault")) || bytes.Contains(text, []byte("handler panicked")) {
			t.Error("the server has a fault")
		}
		if t.Failed() && err == nil && len(text) > 0 {
			t.Logf("stderr of the server:\n%s", text)
		}
		_ = stderr.Close()
	})
	return cmd
}

// throughShell starts a command by a line of sh, in which "$@" is the command.
func throughShell(cmd *exec.Cmd, script string) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}

// startServer starts the binary. The process is ended with the test.
func startServer(t testing.TB, home string, args ...string) *client {
	t.Helper()
	return dial(t, serverCommand(t, home, args...))
}

// offlineCommand is the binary with the offline provider, whose turns end at once.
func offlineCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	return serverCommand(t, home, append([]string{"-c", "model_provider=offline", "-c", "compat.turn_completed_floor_ms=0"}, args...)...)
}

// startOffline starts the binary with the offline provider, and initializes.
func startOffline(t testing.TB, home string, args ...string) *client {
	t.Helper()
	c := dial(t, offlineCommand(t, home, args...))
	c.initialize()
	return c
}

// dial starts a server process and talks to it.
func dial(t testing.TB, cmd *exec.Cmd) *client {
	t.Helper()
	return connect(t, cmd, newWire(t))
}

// connect starts a process that speaks JSON-RPC line by line.
func connect(t testing.TB, cmd *exec.Cmd, w *wire) *client {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &client{t: t, cmd: cmd, wire: w, in: &checkedInput{in, w}, out: out, messages: make(chan message, 1<<16), exited: make(chan struct{})}
	go c.read(out)
	t.Cleanup(func() {
		begun := family(t, cmd.Process.Pid)[1:]
		c.kill()
		awaitEnds(begun) // git may write into the home a moment longer, which is to be removed
		c.wire.end(t)
	})
	return c
}

// awaitEnds waits until processes have ended, for as long as those of a killed server may take.
func awaitEnds(pids []int) {
	deadline := time.Now().Add(3 * time.Second)
	for _, pid := range pids {
		for isAlive(pid) && time.Now().Before(deadline) {
			<-time.After(2 * time.Millisecond)
		}
	}
}

// isAlive is false of what has ended and was not yet waited for.
func isAlive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// read ends with the process.
func (c *client) read(out io.Reader) {
	defer close(c.exited)
	lines := bufio.NewReaderSize(&gatedReader{&c.reading, out}, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		c.wire.line(true, line)
		if !utf8.Valid(line) || !json.Valid(line) {
			c.t.Errorf("the server wrote what is not JSON in UTF-8: %q", line)
		}
		m := message{line: string(line[:len(line)-1])}
		if json.Unmarshal(line, &m) == nil {
			c.messages <- m
		}
	}
	close(c.messages)
	c.err = c.cmd.Wait()
}

// gatedReader reads, and waits for the gate before it tells.
type gatedReader struct {
	gate *sync.Mutex
	io.Reader
}

// Read reads at most what is in the pipe.
func (r *gatedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.gate.Lock()
	defer r.gate.Unlock()
	return n, err
}

// stopReading leaves what the server writes in the pipe, but for one read, until
// resume is called.
func (c *client) stopReading() (resume func()) {
	c.reading.Lock()
	resume = sync.OnceFunc(c.reading.Unlock)
	c.t.Cleanup(resume)
	return resume
}

// gate waits while the client does not read.
func (c *client) gate() {
	c.reading.Lock()
	defer c.reading.Unlock()
}

// kill ends the process without reading what it said.
func (c *client) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.out.Close()
	for range c.messages { // until the reader ends
	}
	<-c.exited
}

func (c *client) signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

func (c *client) write(line string) {
	c.t.Helper()
	_, err := io.WriteString(c.in, line+"\n")
	require.NoError(c.t, err)
	if c.onLine != nil {
		c.onLine("->", line)
	}
}

func (c *client) send(m object) {
	c.t.Helper()
	if c.stamped {
		m["jsonrpc"] = "2.0"
	}
	b, err := json.Marshal(m)
	require.NoError(c.t, err)
	c.write(string(b))
}

// ask sends a request, and gives its id.
func (c *client) ask(method string, params any) string {
	c.t.Helper()
	c.lastID++
	c.send(object{"id": c.lastID, "method": method, "params": params})
	return fmt.Sprint(c.lastID)
}

func (c *client) next() message {
	c.t.Helper()
	select {
	case m, ok := <-c.messages:
		require.True(c.t, ok, "the server ended its output")
		c.look(m)
		if m.Method != "" && m.ID != nil && c.onAsk != nil {
			c.send(object{"id": m.ID, "result": c.onAsk(m)})
		}
		return m
	case <-time.After(patience):
		c.t.Fatal("the server says nothing")
	}
	return message{}
}

func (c *client) look(m message) {
	c.seen = append(c.seen, m)
	if c.onLine != nil {
		c.onLine("<-", m.line)
	}
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

func (c *client) untilAnswer(id string) message {
	c.t.Helper()
	return c.until(func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// request sends a request and reads up to its answer.
func (c *client) request(method string, params any) message {
	c.t.Helper()
	return c.untilAnswer(c.ask(method, params))
}

// call is a request that must succeed.
func (c *client) call(method string, params any) json.RawMessage {
	c.t.Helper()
	m := c.request(method, params)
	require.Nil(c.t, m.Error, "%s: %s", method, m.line)
	return m.Result
}

// refused is a request that must fail.
func (c *client) refused(method string, params any) *failure {
	c.t.Helper()
	m := c.request(method, params)
	require.NotNil(c.t, m.Error, "%s: %s", method, m.line)
	return m.Error
}

func (c *client) initialize() {
	c.t.Helper()
	c.call("initialize", object{"clientInfo": object{"name": "test", "version": "1"}, "capabilities": object{"experimentalApi": true}})
	c.send(object{"method": "initialized"})
}

// threadView is a conversation as answers show it.
type threadView struct {
	ID, Path, Name string
	Turns          []struct {
		ID, Status string
		Items      []json.RawMessage
	}
}

// threadOf calls a method that answers with a thread.
func (c *client) threadOf(method string, params object) threadView {
	c.t.Helper()
	var r struct{ Thread threadView }
	require.NoError(c.t, json.Unmarshal(c.call(method, params), &r))
	return r.Thread
}

func (c *client) startThread(params object) string {
	c.t.Helper()
	return c.threadOf("thread/start", params).ID
}

// startTrusted starts a thread whose commands run unasked.
func (c *client) startTrusted() string {
	c.t.Helper()
	return c.startThread(object{"cwd": c.t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
}

func (c *client) readThread(id string) threadView {
	c.t.Helper()
	return c.threadOf("thread/read", object{"threadId": id, "includeTurns": true})
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

// untilOutput reads up to a piece of a command's output.
func (c *client) untilOutput(text string) {
	c.t.Helper()
	c.until(func(m message) bool {
		var p struct{ Delta string }
		return m.Method == "item/commandExecution/outputDelta" && json.Unmarshal(m.Params, &p) == nil && p.Delta == text
	})
}

// close ends the input, reads what is still said, and waits for the exit.
func (c *client) close() {
	c.t.Helper()
	require.NoError(c.t, c.in.Close())
	c.awaitExit()
}

// awaitExit waits for the end with status 0.
func (c *client) awaitExit() {
	c.t.Helper()
	c.drain()
	require.NoError(c.t, c.err, "exit status")
}

// drain reads up to the end of the server.
func (c *client) drain() {
	c.t.Helper()
	for {
		select {
		case m, ok := <-c.messages:
			if ok {
				c.look(m)
				continue
			}
			<-c.exited
			return
		case <-time.After(patience):
			c.t.Fatal("the server does not end")
		}
	}
}
