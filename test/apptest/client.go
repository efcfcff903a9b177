package apptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/test/posix"
)

// Timeout limits each wait for the server.
var Timeout = time.Duration(max(RaceFactor*30, 90)) * time.Second

// Object is a JSON object.
type Object = map[string]any

// Message is one message of the server.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
	Line   string          `json:"-"`
}

// RPCError is the error of a response.
type RPCError struct {
	Code    int
	Message string
	Data    struct {
		Kind, Field    string
		TurnID         string
		CodexErrorInfo json.RawMessage
	}
}

// Client is a client of a server process, connected by pipes.
type Client struct {
	T            testing.TB
	Cmd          *exec.Cmd
	In           io.WriteCloser
	Out          io.Closer
	Messages     chan *Message // nil after the test
	Exited       chan struct{}
	Err          error // exit error of the process; valid once Exited is closed
	LastID       int
	SendsVersion bool                         // whether messages carry "jsonrpc", which some other servers require
	reading      sync.Mutex                   // held while reading is stopped
	OnRequest    func(Message) any            // answers requests of the server; if nil, they stay open
	OnLine       func(direction, line string) // receives each line: "->" when it is sent, "<-" when the test reads it
	Seen         []Message
	wire         *wire
}

// ServerCommand returns a command that runs the server with a home and arguments.
func ServerCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := Binary()
	require.NoError(t, err)
	return ProcessCommand(t, home, path, args...)
}

// ProcessCommand returns a command that runs a server program with a home and arguments. If the
// test fails, its stderr is logged.
func ProcessCommand(t testing.TB, home, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, "HOME="+home, "OPENAI_API_KEY=", "SHELL=/bin/bash")
	if UsesDatabase() && isServer(path) {
		useDatabase(t, cmd, home)
	}
	stderr, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	cmd.Stderr = stderr
	t.Cleanup(func() {
		text, err := os.ReadFile(stderr.Name())
		if bytes.Contains(text, []byte("recovered from a panic")) || bytes.Contains(text, []byte("handler panicked")) {
			t.Error("the server recovered from a panic; its log has the details")
		}
		if t.Failed() && err == nil && len(text) > 0 {
			t.Logf("stderr of the server:\n%s", text)
		}
		_ = stderr.Close()
	})
	return cmd
}

// ThroughShell changes a command to run by a line of sh, in which "$@" is the original command.
func ThroughShell(cmd *exec.Cmd, script string) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}

// StartServer starts the server. The end of the test kills it.
func StartServer(t testing.TB, home string, args ...string) *Client {
	t.Helper()
	return StartProcess(t, ServerCommand(t, home, args...))
}

// OfflineCommand returns a command that runs the server with the offline provider, without a
// minimum duration of turns.
func OfflineCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	return ServerCommand(t, home,
		append([]string{"-c", "model_provider=offline", "-c", "compat.turn_completed_floor_ms=0"}, args...)...)
}

// StartOffline starts the server with the offline provider and initializes the connection.
func StartOffline(t testing.TB, home string, args ...string) *Client {
	t.Helper()
	c := StartProcess(t, OfflineCommand(t, home, args...))
	c.Initialize()
	return c
}

// StartProcess starts a server process. If a reference schema is loaded, its messages are
// validated.
func StartProcess(t testing.TB, cmd *exec.Cmd) *Client {
	t.Helper()
	return Connect(t, cmd, newWire(t))
}

// Connect starts a process that speaks JSON-RPC, one message a line. A nil w validates nothing.
func Connect(t testing.TB, cmd *exec.Cmd, w *wire) *Client {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	countServer(cmd, 1)
	c := &Client{T: t, Cmd: cmd, wire: w, In: &checkedInput{in, w}, Out: out, Messages: make(chan *Message, 1<<16),
		Exited: make(chan struct{})}
	go c.read(out)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(posix.SIGSTOP) // so that it starts no process after they are listed
		children := WithDescendants(t, cmd.Process.Pid)[1:]
		c.kill()
		awaitEnds(children) // git may still write into the home, which the test removes
		c.wire.end(t)
		c.release()
	})
	return c
}

// release frees the messages. The testing package keeps a test, and with it the client, until all tests have ended.
func (c *Client) release() { c.Messages, c.Seen = nil, nil }

// awaitEnds waits at most three seconds until processes have exited.
func awaitEnds(pids []int) {
	deadline := time.Now().Add(3 * time.Second)
	for _, pid := range pids {
		for IsAlive(pid) && time.Now().Before(deadline) {
			<-time.After(2 * time.Millisecond)
		}
	}
}

// IsAlive reports whether a process runs. A zombie does not.
func IsAlive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// read passes on messages until the process closes its output.
func (c *Client) read(out io.Reader) {
	defer close(c.Exited)
	lines := bufio.NewReaderSize(&gatedReader{&c.reading, out}, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		c.wire.line(true, line)
		if !utf8.Valid(line) || !json.Valid(line) {
			c.T.Errorf("the server wrote a line that is not JSON in UTF-8: %q", line)
		}
		m := &Message{Line: string(line[:len(line)-1])}
		if json.Unmarshal(line, m) == nil {
			c.Messages <- m
		}
	}
	close(c.Messages)
	c.Err = c.Cmd.Wait()
	countServer(c.Cmd, -1)
}

// gatedReader reads from its Reader, but returns only while the gate is open.
type gatedReader struct {
	gate *sync.Mutex
	io.Reader
}

// Read waits for the gate after the read, so one read can precede the closed gate.
func (r *gatedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.gate.Lock()
	defer r.gate.Unlock()
	return n, err
}

// StopReading stops the reads from the server, after at most one more, until resume is called. The
// server's output stays in the pipe.
func (c *Client) StopReading() (resume func()) {
	c.reading.Lock()
	resume = sync.OnceFunc(c.reading.Unlock)
	c.T.Cleanup(resume)
	return resume
}

// gate waits until reading is resumed.
func (c *Client) gate() {
	c.reading.Lock()
	defer c.reading.Unlock()
}

// Kill kills the process and discards its unread messages. A later command of its home can use the threads
// at once, even those in a database.
func (c *Client) Kill() {
	c.kill()
	noteKilled(c.Cmd)
}

func (c *Client) kill() {
	_ = c.Cmd.Process.Kill()
	_ = c.Out.Close()
	for range c.Messages { // until the reader closes it
	}
	<-c.Exited
}

// Signal sends a signal to the server.
func (c *Client) Signal(s syscall.Signal) {
	c.T.Helper()
	require.NoError(c.T, c.Cmd.Process.Signal(s))
}

// Write sends a line as it is; it need not be JSON.
func (c *Client) Write(line string) {
	c.T.Helper()
	_, err := io.WriteString(c.In, line+"\n")
	require.NoError(c.T, err)
	if c.OnLine != nil {
		c.OnLine("->", line)
	}
}

// Send sends a message.
func (c *Client) Send(m Object) {
	c.T.Helper()
	if c.SendsVersion {
		m["jsonrpc"] = "2.0"
	}
	b, err := json.Marshal(m)
	require.NoError(c.T, err)
	c.Write(string(b))
}

// SendRequest sends a request and returns its id.
func (c *Client) SendRequest(method string, params any) string {
	c.T.Helper()
	c.LastID++
	c.Send(Object{"id": c.LastID, "method": method, "params": params})
	return fmt.Sprint(c.LastID)
}

// Next returns the next message. OnRequest answers it if it is a request.
func (c *Client) Next() Message {
	c.T.Helper()
	select {
	case m, ok := <-c.Messages:
		require.True(c.T, ok, "the server closed its output")
		c.Record(*m)
		if m.Method != "" && m.ID != nil && c.OnRequest != nil {
			c.Send(Object{"id": m.ID, "result": c.OnRequest(*m)})
		}
		return *m
	case <-time.After(Timeout):
		c.T.Fatal("no message of the server")
	}
	return Message{}
}

// Record adds a message to Seen.
func (c *Client) Record(m Message) {
	c.Seen = append(c.Seen, m)
	if c.OnLine != nil {
		c.OnLine("<-", m.Line)
	}
}

// Until reads messages until one matches, and returns it.
func (c *Client) Until(want func(Message) bool) Message {
	c.T.Helper()
	for {
		if m := c.Next(); want(m) {
			return m
		}
	}
}

// SeenOrUntil returns the first message that want accepts. It looks at the messages that were read, and then reads on:
// messages of several threads come in any order.
func (c *Client) SeenOrUntil(want func(Message) bool) Message {
	c.T.Helper()
	if at := slices.IndexFunc(c.Seen, want); at >= 0 {
		return c.Seen[at]
	}
	return c.Until(want)
}

// UntilMethod reads until a notification or request with the method.
func (c *Client) UntilMethod(method string) Message {
	c.T.Helper()
	return c.Until(func(m Message) bool { return m.Method == method })
}

// UntilResponse reads until the response to a request.
func (c *Client) UntilResponse(id string) Message {
	c.T.Helper()
	return c.Until(func(m Message) bool { return m.Method == "" && string(m.ID) == id })
}

// UntilResponses reads until the responses to requests, in any order. It returns them by the ids of the requests.
func (c *Client) UntilResponses(ids ...string) map[string]Message {
	c.T.Helper()
	responses := map[string]Message{}
	c.Until(func(m Message) bool {
		if m.Method == "" && slices.Contains(ids, string(m.ID)) {
			responses[string(m.ID)] = m
		}
		return len(responses) == len(ids)
	})
	return responses
}

// Request sends a request and returns the response.
func (c *Client) Request(method string, params any) Message {
	c.T.Helper()
	return c.UntilResponse(c.SendRequest(method, params))
}

// Call returns the result of a request. The test fails if the request does.
func (c *Client) Call(method string, params any) json.RawMessage {
	c.T.Helper()
	m := c.Request(method, params)
	require.Nil(c.T, m.Error, "%s: %s", method, m.Line)
	return m.Result
}

// CallRejected returns the error of a request. The test fails if the request succeeds.
func (c *Client) CallRejected(method string, params any) *RPCError {
	c.T.Helper()
	m := c.Request(method, params)
	require.NotNil(c.T, m.Error, "%s: %s", method, m.Line)
	return m.Error
}

// Initialize sends initialize with the experimental API, and initialized.
func (c *Client) Initialize() {
	c.T.Helper()
	c.Call("initialize",
		Object{"clientInfo": Object{"name": "test", "version": "1"}, "capabilities": Object{"experimentalApi": true}})
	c.Send(Object{"method": "initialized"})
}

// ThreadView is a thread as responses contain it.
type ThreadView struct {
	ID, Path, Name string
	Turns          []struct {
		ID, Status string
		Items      []json.RawMessage
	}
}

// CallThread calls a method whose response contains a thread.
func (c *Client) CallThread(method string, params Object) ThreadView {
	c.T.Helper()
	var r struct{ Thread ThreadView }
	require.NoError(c.T, json.Unmarshal(c.Call(method, params), &r))
	return r.Thread
}

// StartThread starts a thread and returns its id.
func (c *Client) StartThread(params Object) string {
	c.T.Helper()
	return c.CallThread("thread/start", params).ID
}

// StartTrusted starts a thread whose commands need no approval and have no sandbox.
func (c *Client) StartTrusted() string {
	c.T.Helper()
	return c.StartThread(Object{"cwd": c.T.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
}

// ReadThread reads a thread with its turns.
func (c *Client) ReadThread(id string) ThreadView {
	c.T.Helper()
	return c.CallThread("thread/read", Object{"threadId": id, "includeTurns": true})
}

// TextInput returns the input of a turn.
func TextInput(text string) []Object { return []Object{{"type": "text", "text": text}} }

// BeginTurn starts a turn and returns its id.
func (c *Client) BeginTurn(thread, text string) string {
	c.T.Helper()
	var r struct{ Turn struct{ ID string } }
	require.NoError(c.T, json.Unmarshal(c.Call("turn/start", Object{"threadId": thread, "input": TextInput(text)}), &r))
	return r.Turn.ID
}

// EndedTurn is the turn in turn/completed.
type EndedTurn struct {
	ID     string
	Status string
	Error  *struct{ Message string }
	Items  []struct{ Type, Text string }
}

// AwaitTurn reads until a turn ends.
func (c *Client) AwaitTurn() EndedTurn {
	c.T.Helper()
	var p struct{ Turn EndedTurn }
	require.NoError(c.T, json.Unmarshal(c.UntilMethod("turn/completed").Params, &p))
	return p.Turn
}

// Turn runs a turn.
func (c *Client) Turn(thread, text string) EndedTurn {
	c.T.Helper()
	c.BeginTurn(thread, text)
	return c.AwaitTurn()
}

// UntilOutput reads until a delta of a command's output equals text.
func (c *Client) UntilOutput(text string) {
	c.T.Helper()
	c.Until(func(m Message) bool {
		var p struct{ Delta string }
		return m.Method == "item/commandExecution/outputDelta" && json.Unmarshal(m.Params, &p) == nil && p.Delta == text
	})
}

// Close closes the server's input, reads the remaining messages and requires exit status 0.
func (c *Client) Close() {
	c.T.Helper()
	require.NoError(c.T, c.In.Close())
	c.AwaitExit()
}

// AwaitExit reads until the server exits and requires status 0.
func (c *Client) AwaitExit() {
	c.T.Helper()
	c.Drain()
	require.NoError(c.T, c.Err, "exit status")
}

// Drain reads until the server exits.
func (c *Client) Drain() {
	c.T.Helper()
	for {
		select {
		case m, ok := <-c.Messages:
			if ok {
				c.Record(*m)
				continue
			}
			<-c.Exited
			return
		case <-time.After(Timeout):
			c.T.Fatal("the server does not exit")
		}
	}
}
