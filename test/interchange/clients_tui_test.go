//go:build reference

package interchange

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

const (
	historyTurns  = 5000
	historyThread = "0199a213-81c0-7800-8aa1-000000005000"
)

// historyRollout returns the rollout of a thread with many turns.
func historyRollout(cwd string) string {
	var out strings.Builder
	ordinal := 0
	line := func(kind, format string, args ...any) {
		fmt.Fprintf(&out, `{"timestamp":"2025-10-01T10:00:00.000Z","ordinal":%d,"type":%q,"payload":%s}`+"\n", ordinal, kind,
			fmt.Sprintf(format, args...))
		ordinal++
	}
	line("session_meta",
		`{"id":%q,"timestamp":"2025-10-01T10:00:00.000Z","cwd":%q,"originator":"test","cli_version":"0.169.0","source":"vscode","model_provider":"offline","history_mode":"paginated"}`,
		historyThread, cwd)
	for n := range historyTurns {
		turn := fmt.Sprintf("0199a213-81c0-7800-8aa2-%012d", n)
		line("event_msg", `{"type":"task_started","turn_id":%q,"started_at":1759312800}`, turn)
		line("turn_context",
			`{"turn_id":%q,"cwd":%q,"approval_policy":"never","sandbox_policy":{"type":"danger-full-access"},"model":"offline","summary":"auto"}`, turn, cwd)
		item := func(form, id, role, content, text string) {
			line("response_item", `{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, content, text)
			line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":%s,"completed_at_ms":1759312800000}`,
				historyThread, turn, fmt.Sprintf(form, id, text))
		}
		item(`{"type":"UserMessage","id":%q,"content":[{"type":"text","text":%q,"text_elements":[]}]}`,
			fmt.Sprintf("0199a213-81c0-7800-8aa3-%012d", n), "user", "input_text", fmt.Sprintf("question %d", n))
		item(`{"type":"AgentMessage","id":%q,"content":[{"type":"Text","text":%q}]}`,
			fmt.Sprintf("msg_%d", n), "assistant", "output_text", fmt.Sprintf("answer %d", n))
		line("event_msg", `{"type":"task_complete","turn_id":%q,"last_agent_message":"answer %d","completed_at":1759312800,"duration_ms":1}`, turn, n)
	}
	return out.String()
}

// traffic counts the messages between a client and a server.
type traffic struct {
	mu       sync.Mutex
	methods  map[string]string // methods by request id
	requests map[string]int    // by method
	rejected map[string]int    // by method
	bytes    int               // of all messages of the server
	turns    int               // in responses
	items    int               // in responses to thread/items/list
	lines    []string
}

func newTraffic() *traffic {
	return &traffic{methods: map[string]string{}, requests: map[string]int{}, rejected: map[string]int{}}
}

func (c *traffic) countRequest(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, "-> "+string(line))
	if m := gjson.GetBytes(line, "method"); m.Exists() {
		c.methods[gjson.GetBytes(line, "id").Raw] = m.Str
		c.requests[m.Str]++
	}
}

func (c *traffic) countResponse(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, "<- "+string(line))
	c.bytes += len(line)
	method := c.methods[gjson.GetBytes(line, "id").Raw]
	if gjson.GetBytes(line, "error").Exists() {
		c.rejected[method]++
	}
	switch method {
	case "thread/turns/list":
		c.turns += len(gjson.GetBytes(line, "result.data").Array())
	case "thread/items/list":
		c.items += len(gjson.GetBytes(line, "result.data").Array())
	default:
		c.turns += len(gjson.GetBytes(line, "result.thread.turns").Array()) +
			len(gjson.GetBytes(line, "result.initialTurnsPage.data").Array())
	}
}

// String returns one line for the report.
func (c *traffic) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, _ := json.Marshal(c.requests)
	rejected, _ := json.Marshal(c.rejected)
	return fmt.Sprintf("%d turns and %d items in %d bytes; requests %s, refused %s", c.turns, c.items, c.bytes, requests,
		rejected)
}

// countTraffic starts a WebSocket proxy of the daemon that counts its traffic.
func countTraffic(h *apptest.Daemon) (url string, c *traffic) {
	c = newTraffic()
	ctx, cancel := context.WithCancel(context.Background())
	var handlers sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		client, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		client.SetReadLimit(-1)
		upstream, err := h.DialWebSocket(ctx)
		if err != nil {
			_ = client.CloseNow()
			if ctx.Err() == nil { // the test has not ended
				h.T.Error(err)
			}
			return
		}
		ended := make(chan struct{}, 2)
		copyTo := func(to, from *websocket.Conn, see func([]byte)) {
			defer func() { ended <- struct{}{} }()
			for {
				kind, line, err := from.Read(ctx)
				if err != nil {
					return
				}
				see(line)
				if to.Write(ctx, kind, line) != nil {
					return
				}
			}
		}
		go copyTo(upstream, client, c.countRequest)
		go copyTo(client, upstream, c.countResponse)
		<-ended
		_ = client.CloseNow()
		_ = upstream.CloseNow()
		<-ended
	}))
	h.T.Cleanup(func() {
		cancel()
		server.Close()
		handlers.Wait()
	})
	return "ws://" + strings.TrimPrefix(server.URL, "http://"), c
}

// tuiScreen is the output of a program on its terminal.
type tuiScreen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

var tuiEscapes = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>()][0-9A-B]?`)

// read answers the program's queries of its terminal.
func (s *tuiScreen) read(terminal *os.File) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := terminal.Read(buffer)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.text.Write(buffer[:n])
		s.mu.Unlock()
		if bytes.Contains(buffer[:n], []byte("\x1b[6n")) {
			_, _ = terminal.WriteString("\x1b[1;1R")
		}
		if bytes.Contains(buffer[:n], []byte("\x1b[c")) {
			_, _ = terminal.WriteString("\x1b[?62;c")
		}
	}
}

// plain returns the text without escape sequences.
func (s *tuiScreen) plain() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tuiEscapes.ReplaceAllString(s.text.String(), " ")
}

// TestReferenceTUIResumesLongHistories resumes a thread of 5,000 turns. The TUI shows its end
// without reading all of it.
func TestReferenceTUIResumesLongHistories(t *testing.T) {
	home, project := apptest.ShortDir(t), t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"offline\"\nmodel_provider = \"offline\"\n[projects.%q]\ntrust_level = \"trusted\"\n", project))
	apptest.PutRollout(t, home, historyThread, historyRollout(project))
	h := apptest.StartDaemon(t, home, "unix://"+home+"/s")
	url, counted := countTraffic(h)

	tui := exec.Command(os.Getenv("REFERENCE_BINARY"), "resume", historyThread, "--remote", url)
	tui.Dir = project
	tui.Env = []string{"HOME=" + t.TempDir(), "CODEX_HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
		"TERM=xterm-256color"}
	terminal, err := pty.StartWithSize(tui, &pty.Winsize{Rows: 40, Cols: 120})
	require.NoError(t, err)
	shown := new(tuiScreen)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		shown.read(terminal)
	}()
	t.Cleanup(func() {
		_ = tui.Process.Kill()
		_ = tui.Wait()
		_ = terminal.Close()
		<-ended
		if t.Failed() {
			counted.mu.Lock()
			defer counted.mu.Unlock()
			for _, line := range counted.lines {
				t.Log(line[:min(len(line), 600)])
			}
		}
	})

	last := fmt.Sprintf("answer %d", historyTurns-1)
	require.Eventually(t, func() bool { return strings.Contains(shown.plain(), last) }, apptest.Timeout,
		100*time.Millisecond,
		"the TUI does not show %q", last)
	text := "the TUI resumes 5,000 turns: " + counted.String()
	t.Log(text)
	require.NoError(t, apptest.AppendReport(text))
	require.Positive(t, counted.turns+counted.items)
	require.Less(t, counted.turns, 100, text)
	require.Less(t, counted.items, 1000, text)
	require.Less(t, counted.bytes, 1<<20, text)
}

// TestReferenceClientACPLoadsLongHistories loads a thread of 5,000 turns. The editor gets all of
// it, as ACP requires, and codex-acp reads it in pages.
func TestReferenceClientACPLoadsLongHistories(t *testing.T) {
	w := scriptedWorkshop(t, `{"steps":[]}`)
	apptest.PutRollout(t, w.home, historyThread, historyRollout(w.project))
	a := w.acp()
	a.session = historyThread
	begin := len(a.Seen)
	a.Call("session/load", apptest.Object{"sessionId": historyThread, "cwd": w.project, "mcpServers": []apptest.Object{}})
	shown := a.updates(a.Seen[begin:])
	require.Contains(t, shownText(shown, "user_message_chunk"), "question 0question 1")
	history := shownText(shown, "agent_message_chunk")
	require.Contains(t, history, fmt.Sprintf("answer %danswer %d", historyTurns-2, historyTurns-1), "it ends with %q",
		history[max(0, len(history)-300):])
	a.Client.Close()

	counted := newTraffic()
	paths, err := filepath.Glob(filepath.Join(w.records, "*"))
	require.NoError(t, err)
	for _, path := range paths {
		record, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(record)) {
			if request, ok := strings.CutPrefix(line, "-> "); ok {
				counted.countRequest([]byte(request))
			} else if answered, ok := strings.CutPrefix(line, "<- "); ok {
				counted.countResponse([]byte(answered))
			}
		}
	}
	text := "codex-acp loads 5,000 turns: " + counted.String()
	t.Log(text)
	require.NoError(t, apptest.AppendReport(text))
	require.Zero(t, counted.turns, "a response has the whole history: %s", text)
	require.Equal(t, 2*historyTurns+1, counted.items, text)
	require.Equal(t, 1+2*historyTurns/100, counted.requests["thread/items/list"], text)
}
