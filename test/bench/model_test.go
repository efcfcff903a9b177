package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// benchModel is a provider for benchmarks: it answers every request with the same number of
// deltas, in whichever of the two APIs it is asked.
type benchModel struct {
	*httptest.Server
	// deltas and gap must not change while a turn is under way. Without a gap deltas come
	// as fast as they are taken.
	deltas int
	gap    time.Duration
}

// benchWord is the text of a delta.
const benchWord = "tok "

func newBenchModel(deltas int, gap time.Duration) *benchModel {
	m := &benchModel{deltas: deltas, gap: gap}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	mux.HandleFunc("POST /v1/responses", m.responses)
	m.Server = httptest.NewServer(mux)
	return m
}

func (m *benchModel) chat(w http.ResponseWriter, r *http.Request) {
	chunk := func(delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	}
	m.stream(w, r, chunk(fmt.Sprintf(`{"content":%q}`, benchWord), "null"))
	usage := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"bench","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}` + "\n\n"
	_, _ = io.WriteString(w, chunk("{}", `"stop"`)+usage+"data: [DONE]\n\n")
}

func (m *benchModel) responses(w http.ResponseWriter, r *http.Request) {
	event := func(kind, rest string) string {
		return fmt.Sprintf("event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, rest)
	}
	item := func(status, content string) string {
		return fmt.Sprintf(`"output_index":0,"item":{"type":"message","id":"m","role":"assistant","status":%q,"content":[%s]}`, status, content)
	}
	// Its client ends the connection after response.completed, so that must be the last write.
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, event("response.created", `"response":{"id":"r"}`)+
		event("response.output_item.added", item("in_progress", "")))
	m.stream(w, r, event("response.output_text.delta",
		fmt.Sprintf(`"item_id":"m","output_index":0,"content_index":0,"delta":%q`, benchWord)))
	whole := fmt.Sprintf(`{"type":"output_text","annotations":[],"text":%q}`, strings.Repeat(benchWord, m.deltas))
	_, _ = io.WriteString(w, event("response.output_item.done", item("completed", whole))+
		event("response.completed",
			`"response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2,"input_tokens_details":{"cached_tokens":0},"output_tokens_details":{"reasoning_tokens":0}}}`))
}

// stream writes the deltas, in batches if there is no gap between them.
func (m *benchModel) stream(w http.ResponseWriter, r *http.Request, delta string) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	if m.gap == 0 {
		batch := strings.Repeat(delta, 100)
		for range m.deltas / 100 {
			_, _ = io.WriteString(w, batch)
		}
		_, _ = io.WriteString(w, strings.Repeat(delta, m.deltas%100))
		return
	}
	tick := time.NewTicker(m.gap)
	defer tick.Stop()
	for range m.deltas {
		<-tick.C
		_, _ = io.WriteString(w, delta)
		w.(http.Flusher).Flush()
	}
}

// alone returns the time of so many requests at once to a path, without a server between.
func (m *benchModel) alone(t testing.TB, path string, requests int) time.Duration {
	began := time.Now()
	failed := make(chan error, requests)
	for range requests {
		go func() {
			r, err := http.Post(m.URL+path, "application/json", strings.NewReader("{}"))
			if err == nil {
				_, err = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
			}
			failed <- err
		}()
	}
	for range requests {
		require.NoError(t, <-failed)
	}
	http.DefaultClient.CloseIdleConnections()
	return time.Since(began)
}

// TestTheModelOfBenchmarksStreamsInBothAPIs requires that the model sends all that a benchmark asks
// for.
func TestTheModelOfBenchmarksStreamsInBothAPIs(t *testing.T) {
	for _, gap := range []time.Duration{0, time.Microsecond} {
		m := newBenchModel(250, gap)
		for path, count := range map[string]string{"chat/completions": "choices.0.delta.content", "responses": "delta"} {
			r, err := http.Post(m.URL+"/v1/"+path, "application/json", strings.NewReader("{}"))
			require.NoError(t, err)
			answer, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.NoError(t, r.Body.Close())
			text := ""
			for line := range bytes.Lines(answer) {
				if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok {
					require.True(t, gjson.ValidBytes(append([]byte("{"), bytes.TrimSpace(data)...)), "%s", line)
					text += gjson.GetBytes(line[len("data: "):], count).Str
				}
			}
			require.Equal(t, strings.Repeat(benchWord, 250), text, path)
		}
		require.Positive(t, m.alone(t, "/v1/responses", 3))
		m.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}
