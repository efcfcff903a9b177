package apptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Timeout is how long tests wait for what must come.
var Timeout = time.Duration(RaceFactor) * 30 * time.Second

type Object = map[string]any

// Message is what the server wrote.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
	Line   string          `json:"-"`
}

type RPCError struct {
	Code    int
	Message string
	Data    struct {
		Kind, Field    string
		TurnID         string
		CodexErrorInfo json.RawMessage
	}
}

// Client talks to a server process over real pipes.
type Client struct {
	T            testing.TB
	Cmd          *exec.Cmd
	In           io.WriteCloser
	Out          io.Closer
	Messages     chan Message
	Exited       chan struct{}
	Err          error // of the exit, once exited is closed
	LastID       int
	SendsVersion bool                         // messages carry "jsonrpc", which other servers insist on
	reading      sync.Mutex                   // held by stopReading
	OnRequest    func(Message) any            // answers requests of the server; nil leaves them open
	OnLine       func(direction, line string) // told what was sent, "->", and looked at, "<-"
	Seen         []Message
	wire         *wire
}

// ServerCommand is the binary with a home and arguments.
func ServerCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := Binary()
	require.NoError(t, err)
	return ProcessCommand(t, home, path, args...)
}

// ProcessCommand is a server with a home and arguments. What it writes to stderr is shown
// where the test fails.
func ProcessCommand(t testing.TB, home, path string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, "HOME="+home, "OPENAI_API_KEY=", "SHELL=/bin/bash")
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

// ThroughShell starts a command by a line of sh, in which "$@" is the command.
func ThroughShell(cmd *exec.Cmd, script string) *exec.Cmd {
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	return cmd
}

// StartServer starts the binary. The process is ended with the test.
func StartServer(t testing.TB, home string, args ...string) *Client {
	t.Helper()
	return StartProcess(t, ServerCommand(t, home, args...))
}

// OfflineCommand is the binary with the offline provider, whose turns end at once.
func OfflineCommand(t testing.TB, home string, args ...string) *exec.Cmd {
	t.Helper()
	return ServerCommand(t, home,
		append([]string{"-c", "model_provider=offline", "-c", "compat.turn_completed_floor_ms=0"}, args...)...)
}

// StartOffline starts the binary with the offline provider, and initializes.
func StartOffline(t testing.TB, home string, args ...string) *Client {
	t.Helper()
	c := StartProcess(t, OfflineCommand(t, home, args...))
	c.Initialize()
	return c
}

// StartProcess starts a server process and talks to it.
func StartProcess(t testing.TB, cmd *exec.Cmd) *Client {
	t.Helper()
	return Connect(t, cmd, newWire(t))
}

// Connect starts a process that speaks JSON-RPC line by line.
func Connect(t testing.TB, cmd *exec.Cmd, w *wire) *Client {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	c := &Client{T: t, Cmd: cmd, wire: w, In: &checkedInput{in, w}, Out: out, Messages: make(chan Message, 1<<16),
		Exited: make(chan struct{})}
	go c.read(out)
	t.Cleanup(func() {
		begun := WithDescendants(t, cmd.Process.Pid)[1:]
		c.Kill()
		awaitEnds(begun) // git may write into the home a moment longer, which is to be removed
		c.wire.end(t)
	})
	return c
}

// awaitEnds waits until processes have ended, for as long as those of a killed server may take.
func awaitEnds(pids []int) {
	deadline := time.Now().Add(3 * time.Second)
	for _, pid := range pids {
		for IsAlive(pid) && time.Now().Before(deadline) {
			<-time.After(2 * time.Millisecond)
		}
	}
}

// IsAlive is false of what has ended and was not yet waited for.
func IsAlive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// read ends with the process.
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
			c.T.Errorf("the server wrote what is not JSON in UTF-8: %q", line)
		}
		m := Message{Line: string(line[:len(line)-1])}
		if json.Unmarshal(line, &m) == nil {
			c.Messages <- m
		}
	}
	close(c.Messages)
	c.Err = c.Cmd.Wait()
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

// StopReading leaves what the server writes in the pipe, but for one read, until
// resume is called.
func (c *Client) StopReading() (resume func()) {
	c.reading.Lock()
	resume = sync.OnceFunc(c.reading.Unlock)
	c.T.Cleanup(resume)
	return resume
}

// gate waits while the client does not read.
func (c *Client) gate() {
	c.reading.Lock()
	defer c.reading.Unlock()
}

// Kill ends the process without reading what it said.
func (c *Client) Kill() {
	_ = c.Cmd.Process.Kill()
	_ = c.Out.Close()
	for range c.Messages { // until the reader ends
	}
	<-c.Exited
}

func (c *Client) Signal(s syscall.Signal) {
	c.T.Helper()
	require.NoError(c.T, c.Cmd.Process.Signal(s))
}

func (c *Client) Write(line string) {
	c.T.Helper()
	_, err := io.WriteString(c.In, line+"\n")
	require.NoError(c.T, err)
	if c.OnLine != nil {
		c.OnLine("->", line)
	}
}

func (c *Client) Send(m Object) {
	c.T.Helper()
	if c.SendsVersion {
		m["jsonrpc"] = "2.0"
	}
	b, err := json.Marshal(m)
	require.NoError(c.T, err)
	c.Write(string(b))
}

// SendRequest sends a request, and gives its id.
func (c *Client) SendRequest(method string, params any) string {
	c.T.Helper()
	c.LastID++
	c.Send(Object{"id": c.LastID, "method": method, "params": params})
	return fmt.Sprint(c.LastID)
}

func (c *Client) Next() Message {
	c.T.Helper()
	select {
	case m, ok := <-c.Messages:
		require.True(c.T, ok, "the server ended its output")
		c.Record(m)
		if m.Method != "" && m.ID != nil && c.OnRequest != nil {
			c.Send(Object{"id": m.ID, "result": c.OnRequest(m)})
		}
		return m
	case <-time.After(Timeout):
		c.T.Fatal("the server says nothing")
	}
	return Message{}
}

func (c *Client) Record(m Message) {
	c.Seen = append(c.Seen, m)
	if c.OnLine != nil {
		c.OnLine("<-", m.Line)
	}
}

// Until reads up to a message.
func (c *Client) Until(want func(Message) bool) Message {
	c.T.Helper()
	for {
		if m := c.Next(); want(m) {
			return m
		}
	}
}

func (c *Client) UntilMethod(method string) Message {
	c.T.Helper()
	return c.Until(func(m Message) bool { return m.Method == method })
}

func (c *Client) UntilResponse(id string) Message {
	c.T.Helper()
	return c.Until(func(m Message) bool { return m.Method == "" && string(m.ID) == id })
}

// Request sends a request and reads up to its answer.
func (c *Client) Request(method string, params any) Message {
	c.T.Helper()
	return c.UntilResponse(c.SendRequest(method, params))
}

// Call is a request that must succeed.
func (c *Client) Call(method string, params any) json.RawMessage {
	c.T.Helper()
	m := c.Request(method, params)
	require.Nil(c.T, m.Error, "%s: %s", method, m.Line)
	return m.Result
}

// CallRejected is a request that must fail.
func (c *Client) CallRejected(method string, params any) *RPCError {
	c.T.Helper()
	m := c.Request(method, params)
	require.NotNil(c.T, m.Error, "%s: %s", method, m.Line)
	return m.Error
}

func (c *Client) Initialize() {
	c.T.Helper()
	c.Call("initialize",
		Object{"clientInfo": Object{"name": "test", "version": "1"}, "capabilities": Object{"experimentalApi": true}})
	c.Send(Object{"method": "initialized"})
}

// ThreadView is a conversation as answers show it.
type ThreadView struct {
	ID, Path, Name string
	Turns          []struct {
		ID, Status string
		Items      []json.RawMessage
	}
}

// CallThread calls a method that answers with a thread.
func (c *Client) CallThread(method string, params Object) ThreadView {
	c.T.Helper()
	var r struct{ Thread ThreadView }
	require.NoError(c.T, json.Unmarshal(c.Call(method, params), &r))
	return r.Thread
}

func (c *Client) StartThread(params Object) string {
	c.T.Helper()
	return c.CallThread("thread/start", params).ID
}

// StartTrusted starts a thread whose commands run unasked.
func (c *Client) StartTrusted() string {
	c.T.Helper()
	return c.StartThread(Object{"cwd": c.T.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
}

func (c *Client) ReadThread(id string) ThreadView {
	c.T.Helper()
	return c.CallThread("thread/read", Object{"threadId": id, "includeTurns": true})
}

func TextInput(text string) []Object { return []Object{{"type": "text", "text": text}} }

// BeginTurn gives the turn's id.
func (c *Client) BeginTurn(thread, text string) string {
	c.T.Helper()
	var r struct{ Turn struct{ ID string } }
	require.NoError(c.T, json.Unmarshal(c.Call("turn/start", Object{"threadId": thread, "input": TextInput(text)}), &r))
	return r.Turn.ID
}

// EndedTurn is what turn/completed says.
type EndedTurn struct {
	ID     string
	Status string
	Error  *struct{ Message string }
	Items  []struct{ Type, Text string }
}

func (c *Client) AwaitTurn() EndedTurn {
	c.T.Helper()
	var p struct{ Turn EndedTurn }
	require.NoError(c.T, json.Unmarshal(c.UntilMethod("turn/completed").Params, &p))
	return p.Turn
}

func (c *Client) Turn(thread, text string) EndedTurn {
	c.T.Helper()
	c.BeginTurn(thread, text)
	return c.AwaitTurn()
}

// UntilOutput reads up to a piece of a command's output.
func (c *Client) UntilOutput(text string) {
	c.T.Helper()
	c.Until(func(m Message) bool {
		var p struct{ Delta string }
		return m.Method == "item/commandExecution/outputDelta" && json.Unmarshal(m.Params, &p) == nil && p.Delta == text
	})
}

// Close ends the input, reads what is still said, and waits for the exit.
func (c *Client) Close() {
	c.T.Helper()
	require.NoError(c.T, c.In.Close())
	c.AwaitExit()
}

// AwaitExit waits for the end with status 0.
func (c *Client) AwaitExit() {
	c.T.Helper()
	c.Drain()
	require.NoError(c.T, c.Err, "exit status")
}

// Drain reads up to the end of the server.
func (c *Client) Drain() {
	c.T.Helper()
	for {
		select {
		case m, ok := <-c.Messages:
			if ok {
				c.Record(m)
				continue
			}
			<-c.Exited
			return
		case <-time.After(Timeout):
			c.T.Fatal("the server does not end")
		}
	}
}
