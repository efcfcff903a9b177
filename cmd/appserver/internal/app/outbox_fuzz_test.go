package app

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/effects/config"
	"appserver/core/engine"
	"appserver/test/apptest"
)

// brokenStream is an answer of a provider with invalid UTF-8 and unpaired surrogates.
const brokenStream = "data: {\"choices\":[{\"delta\":{\"content\":\"a\xff\\ud800\",\"reasoning\":\"\xff\"}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\xff\",\"function\":{\"name\":\"own\",\"arguments\":\"{\\\"a\\\":\\\"\xff\\\\ud800\\\"}\"}}]}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

const lastStream = "data: {\"choices\":[{\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

// FuzzOutbox serves a thread with any rollout from a provider with any stream. Every message to a client on
// pipes and to a client on a transport with frames must be JSON in UTF-8.
func FuzzOutbox(f *testing.F) {
	corpus, err := filepath.Glob("testdata/corpus/*.jsonl")
	require.NoError(f, err)
	for _, path := range corpus {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(text, []byte(brokenStream))
	}
	f.Add([]byte(apptest.BrokenRollout(apptest.UnknownThreadID)), []byte(brokenStream))
	f.Add([]byte{}, []byte("data: \xff\n\n"))
	f.Add([]byte(apptest.BrokenRollout(apptest.UnknownThreadID)), []byte(`{"error":{"message":"`+"\xff"+`\ud800"}}`))
	var mu sync.Mutex
	var answer []byte
	provider := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(answer)
		answer = []byte(lastStream) // the same answer again would call tools without end
	}))
	f.Cleanup(provider.Close)
	f.Fuzz(func(t *testing.T, stored, stream []byte) {
		mu.Lock()
		answer = stream
		mu.Unlock()
		home := t.TempDir()
		path := apptest.RolloutName(home, apptest.UnknownThreadID)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, stored, 0o600))
		apptest.WriteConfig(t, home,
			fmt.Sprintf("model = \"m\"\nmodel_provider = \"p\"\nindex.enabled = false\n[compat]\nturn_completed_floor_ms = 0\n"+
				"[model_providers.p]\nbase_url = %q\nwire_api = \"chat\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
				provider.URL))
		h := newTwoClients(t, home)
		h.converse()
		apptest.RequireWellFormed(t, h.end())
	})
}

// twoClients is a server in this process with a client on pipes, and a client on frames that only receives.
type twoClients struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	frames *frames
	ended  chan error
	lines  []string
}

// frames is a client on a transport with message boundaries.
type frames struct {
	incoming chan string
	mu       sync.Mutex
	received bytes.Buffer
}

// Next returns the next message of the test.
func (f *frames) Next() ([]byte, error) {
	line, ok := <-f.incoming
	if !ok {
		return nil, io.EOF
	}
	return []byte(line), nil
}

// Write records a message of the server.
func (f *frames) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.received.Write(p)
}

func newTwoClients(t *testing.T, home string) *twoClients {
	source := config.Source{Home: home, Getenv: func(string) string { return "" }}
	c, err := config.Load(source)
	require.NoError(t, err)
	live := config.NewLive(source, c)
	own := unconfinedSetup(live, home, home)
	threads, err := openStore(own.localHome, true)
	require.NoError(t, err)
	proc, err := newProcess(assemblyOf(t, own, threads, engine.Parts{Patches: fakeFiles{}}))
	require.NoError(t, err)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	h := &twoClients{t: t, in: toServer, out: bufio.NewReader(fromServer), frames: &frames{incoming: make(chan string)},
		ended: make(chan error, 2)}
	go func() { h.ended <- proc.server.ServeTransport(context.Background(), h.frames) }()
	go func() {
		err := proc.run(transports{nil, &Streams{in, out, io.Discard}}, nil, nil)
		_ = out.Close()
		h.ended <- err
	}()
	return h
}

// converse lists, reads and resumes the thread, runs a turn, and reads the result.
func (h *twoClients) converse() {
	initialize := `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"},"capabilities":{"experimentalApi":true}}}`
	h.frames.incoming <- initialize
	h.ask(initialize)
	h.ask(`{"id":2,"method":"thread/list","params":{"modelProviders":[]}}`)
	h.ask(`{"id":3,"method":"thread/read","params":{"threadId":"` + apptest.UnknownThreadID + `","includeTurns":true}}`)
	h.ask(`{"id":4,"method":"thread/resume","params":{"threadId":"` + apptest.UnknownThreadID +
		`","approvalPolicy":"never","modelProvider":"p","model":"m","cwd":"/"}}`)
	h.frames.incoming <- `{"id":4,"method":"thread/resume","params":{"threadId":"` + apptest.UnknownThreadID + `"}}`
	if h.ask(`{"id":5,"method":"turn/start","params":{"threadId":"` + apptest.UnknownThreadID +
		`","input":[{"type":"text","text":"go"}]}}`) {
		h.until(func(line string) bool { return gjson.Get(line, "method").Str == "turn/completed" })
	}
	for _, method := range []string{"context/list", "thread/turns/list", "thread/items/list", "thread/timeline/list",
		"thread/fork"} {
		h.ask(`{"id":6,"method":"` + method + `","params":{"threadId":"` + apptest.UnknownThreadID + `"}}`)
	}
}

// ask sends a request, and reports whether it has a result.
func (h *twoClients) ask(line string) (served bool) {
	_, err := io.WriteString(h.in, line+"\n")
	require.NoError(h.t, err)
	id := gjson.Get(line, "id").Raw
	answer := h.until(func(line string) bool {
		return !gjson.Get(line, "method").Exists() &&
			gjson.Get(line, "id").Raw == id
	})
	return gjson.Get(answer, "result").Exists()
}

func (h *twoClients) until(found func(line string) bool) string {
	for {
		line, err := h.out.ReadString('\n')
		require.NoError(h.t, err)
		h.lines = append(h.lines, line)
		if found(line) {
			return line
		}
	}
}

// end stops the server and returns all messages that both clients received.
func (h *twoClients) end() []string {
	require.NoError(h.t, h.in.Close())
	rest, err := io.ReadAll(h.out)
	require.NoError(h.t, err)
	close(h.frames.incoming)
	for range 2 {
		require.NoError(h.t, <-h.ended)
	}
	received := strings.SplitAfter(string(rest)+h.frames.received.String(), "\n")
	return append(h.lines, received[:len(received)-1]...)
}
