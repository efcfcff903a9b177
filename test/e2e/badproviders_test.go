package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// rawAnswer answers by the connection itself, which is closed afterwards.
func rawAnswer(answer func(c net.Conn)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // unread data would reset the connection
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // the test's server catches it
		}
		defer c.Close()
		answer(c)
	}
}

// stream answers with events.
func stream(events ...string) http.HandlerFunc {
	return rawAnswer(func(c net.Conn) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"+
			strings.Join(events, ""))
	})
}

// endlessText writes a text until the server closes the connection.
func endlessText(begin, text string) http.HandlerFunc {
	return rawAnswer(func(c net.Conn) {
		w := bufio.NewWriterSize(c, 1<<20)
		_, err := w.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + begin)
		for err == nil {
			_, err = w.WriteString(text)
		}
	})
}

// badAnswer is an answer of a provider, with the end of the turn and a part of its answer or of its error.
type badAnswer struct {
	answer          http.HandlerFunc
	status, message string
}

// settings returns a short timeout of the provider if the answer should exceed it.
func (a badAnswer) settings() string {
	if a.message == "idle timeout" {
		return "stream_idle_timeout_ms = 2000\n"
	}
	return ""
}

// TestProviderFailuresEndTurnOnce answers with every kind of invalid response. The turn ends once,
// and the next turn works.
func TestProviderFailuresEndTurnOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const done = "data: [DONE]\n\n"
	word := func(s string) string { return apptest.ChatChunk(apptest.Object{"content": s}, nil) }
	call := apptest.ChatChunk(apptest.Object{"tool_calls": []apptest.Object{{"index": 0, "id": "a",
		"function": apptest.Object{"name": "shell", "arguments": `{"command":"echo hi"}`}}}}, nil)
	stop, calls := apptest.ChatChunk(apptest.Object{}, "stop"), apptest.ChatChunk(apptest.Object{}, "tool_calls")
	usage := `data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":2}}` + "\n\n"
	for name, c := range map[string]badAnswer{
		"reset": {rawAnswer(func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }), "failed",
			"no answer from model provider"},
		"closed": {rawAnswer(func(net.Conn) {}), "failed", "no answer from model provider"},
		"no HTTP": {rawAnswer(func(c net.Conn) { _, _ = io.WriteString(c, "220 mail ready\r\n") }), "failed",
			"no answer from model provider"},
		"binary garbage": {stream("\x00\xff\xfe\x01\n\n\x80\n\n"), "failed", "held no events"},
		"garbage amidst": {stream(word("a"), "data: \xff{\n\n", stop, done), "failed", "not JSON"},
		"reset amidst": {rawAnswer(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+word("a"))
			_ = c.(*net.TCPConn).SetLinger(0)
		}), "failed", "stream disconnected"},
		"cut short":              {stream(word("a")), "failed", "stream disconnected"},
		"stalled before headers": {rawAnswer(func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "failed", "idle timeout"},
		"stalled amidst": {rawAnswer(func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"+word("a"))
			_, _ = io.Copy(io.Discard, c)
		}), "failed", "idle timeout"},
		"text without end":   {endlessText("", word(strings.Repeat("x", 10_000))), "failed", "more than 32 MiB"},
		"a line without end": {endlessText("data: ", "xxxxxxxxxxxxxxxx"), "failed", "more than 67108864 bytes"},
		"headers without end": {rawAnswer(func(c net.Conn) {
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for err == nil {
				_, err = io.WriteString(c, "X: "+strings.Repeat("x", 4096)+"\r\n")
			}
		}), "failed", "no answer"},
		"comments without end": {endlessText("", ": still here\n\n"), "failed", "idle timeout"},
		"[DONE] and no end":    {endlessText(word("whole")+stop+done, word("more")), "completed", "whole"},
		"finish twice": {stream(word("one"), stop, word(" two"), apptest.ChatChunk(apptest.Object{}, "length"), done),
			"completed", "one two"},
		"usage twice": {stream(word("one"), fmt.Sprintf(usage, 1), stop, fmt.Sprintf(usage, 7), done), "completed",
			"one"},
		"negative usage": {stream(word("one"), stop, fmt.Sprintf(usage, -5), done), "completed", "one"},
		"two choices": {stream(word("one"), strings.Replace(word("other"), `"index":0`, `"index":1`, 1), stop,
			done), "completed", "one"},
		"[DONE] amidst": {stream(word("one"), done, word(" two"), stop, done), "completed", "one"},
		"an error after finish": {stream(word("one"), stop, "data: {\"error\":{\"message\":\"too late\"}}\n\n"), "failed",
			"too late"},
		"calls after finish":   {stream(word("one"), stop, call, done), "completed", ""},
		"calls and stop":       {stream(call, stop, done), "completed", ""},
		"calls without a call": {stream(word("one"), calls, done), "completed", "one"},
		"nothing":              {stream(stop, done), "failed", "sent an empty answer"},
		"blanks":               {stream(word(" \n"), stop, done), "failed", "sent an empty answer"},
		"a failure as reason": {stream(word("one"), apptest.ChatChunk(apptest.Object{}, "network_error"), done), "failed",
			"network_error"},
		"an unknown reason": {stream(word("one"), apptest.ChatChunk(apptest.Object{}, "whim"), done), "completed", "one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			server := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) == 1 {
					c.answer(w, r)
				} else {
					apptest.TextAnswer("The next answer.")(w)
				}
			}))
			t.Cleanup(server.Close)
			home := t.TempDir()
			apptest.WriteConfig(t, home,
				fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = \"chat\"\n"+
					"request_max_retries = 0\nstream_max_retries = 0\n%s", server.URL+"/v1", c.settings()))
			s := apptest.StartServer(t, home)
			s.Initialize()
			id := s.StartTrusted()
			base := restingKiB(s, id)
			turn := s.Turn(id, "go")
			require.Equal(t, c.status, turn.Status, "%+v", turn)
			if c.status == "failed" {
				require.Contains(t, turn.Error.Message, c.message)
			} else {
				require.Contains(t, lastAnswer(s), c.message)
			}
			require.Less(t, memoryKiB(s, "VmHWM")-base, apptest.RaceFactor*512<<10, "KiB")
			require.Equal(t, "completed", s.Turn(id, "and now").Status)
			require.Equal(t, "The next answer.", lastAnswer(s))
			s.Close()
			require.Len(t, s.Notifications("turn/completed"), 2)
		})
	}
}

// lastAnswer returns the text of the last message of the model, or "".
func lastAnswer(c *apptest.Client) (text string) {
	for _, m := range c.Notifications("item/completed") {
		if item := gjson.GetBytes(m.Params, "item"); item.Get("type").Str == "agentMessage" {
			text = item.Get("text").Str
		}
	}
	return text
}

// homeOfStreams returns a home whose provider streams words until release is closed.
func homeOfStreams(t *testing.T, release <-chan struct{}) string {
	t.Helper()
	server := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		pause := time.NewTicker(20 * time.Millisecond)
		defer pause.Stop()
		for flow := http.NewResponseController(w); ; {
			_, _ = io.WriteString(w, apptest.ChatChunk(apptest.Object{"content": "some words "}, nil))
			if flow.Flush() != nil {
				return
			}
			select {
			case <-release:
				apptest.TextAnswer("the end")(w)
				return
			case <-r.Context().Done():
				return
			case <-pause.C:
			}
		}
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = \"chat\"\n", server.URL+"/v1"))
	return home
}

// TestInterruptsAmongManyTurnsAreFast interrupts some of 200 streaming threads. Each interrupt
// takes effect soon, and all other turns complete.
func TestInterruptsAmongManyTurnsAreFast(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const threads, interrupted = 200, 20
	release := make(chan struct{})
	c := apptest.StartServer(t, homeOfStreams(t, release), "-c", "compat.turn_completed_floor_ms=0")
	c.Initialize()
	turns := map[string]string{}
	var order []string
	for range threads {
		id := c.StartThread(apptest.Object{})
		turns[id] = c.BeginTurn(id, "stream")
		order = append(order, id)
	}
	completed := map[string]bool{}
	for len(completed) < threads {
		if m := c.Next(); m.Method == "item/agentMessage/delta" {
			completed[gjson.GetBytes(m.Params, "threadId").Str] = true
		}
		c.Seen = nil
	}
	for _, id := range order[:interrupted] {
		began := time.Now()
		c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turns[id]})
		untilEnd(c, turns[id], "interrupted")
		require.Less(t, time.Since(began), apptest.Timeout/6)
		c.Seen = nil
	}
	close(release)
	for left := threads - interrupted; left > 0; left-- {
		require.Equal(t, "completed", c.AwaitTurn().Status)
	}
	c.Close()
}

func untilEnd(c *apptest.Client, turn, status string) {
	c.T.Helper()
	m := c.Until(func(m apptest.Message) bool {
		return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "turn.id").Str == turn
	})
	require.Equal(c.T, status, gjson.GetBytes(m.Params, "turn.status").Str)
}
