package rollout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
)

func lineOf(payload []byte) protocol.RolloutLine {
	return protocol.RolloutLine{Timestamp: "2026-01-02T03:04:05.678Z", Type: protocol.LineEventMsg, Payload: payload}
}

// appendTo appends bytes to a file.
func appendTo(s *Store, path string, data []byte) error {
	file, err := disk.Create(s.disk, path)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return cmp.Or(err, file.Close())
}

// longThread returns 5,000 turns of 12 lines: 49 MB in the shapes of a real rollout.
func longThread() []byte {
	text := strings.Repeat(`A line of \"code\" or prose, as models write it.\n`, 22)
	turn := []string{
		`"event_msg","payload":{"type":"task_started","turn_id":"%[1]d","started_at":1795261506,` +
			`"model_context_window":258400}}`,
		`"turn_context","payload":{"turn_id":"%[1]d","cwd":"/repo","approval_policy":"never",` +
			`"sandbox_policy":{"type":"danger-full-access"},"model":"m","summary":"auto"}}`,
		`"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",` +
			`"text":"%[2]s"}],"internal":{"turn_id":"%[1]d"}},"metadata":{"history_sequence":%[1]d}}`,
		`"event_msg","payload":{"type":"item_completed","turn_id":"%[1]d","item":{"type":"UserMessage","id":"u",` +
			`"content":[{"type":"text","text":"%[2]s","text_elements":[]}]}}}`,
		`"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"%[2]s"}],` +
			`"content":null,"encrypted_content":null}}`,
		`"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}",` +
			`"call_id":"c%[1]d"}}`,
		`"event_msg","payload":{"type":"item_completed","turn_id":"%[1]d","item":{"type":"CommandExecution",` +
			`"command":["ls"],"aggregated_output":"%[2]s","exit_code":0}}}`,
		`"response_item","payload":{"type":"function_call_output","call_id":"c%[1]d","output":"%[2]s"}}`,
		`"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9977,` +
			`"cached_input_tokens":0,"output_tokens":20,"total_tokens":9997},"model_context_window":258400}}}`,
		`"event_msg","payload":{"type":"item_completed","turn_id":"%[1]d","item":{"type":"AgentMessage",` +
			`"content":[{"type":"Text","text":"%[2]s"}]}}}`,
		`"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text",` +
			`"text":"%[2]s"}]},"metadata":{"history_sequence":%[1]d}}`,
		`"event_msg","payload":{"type":"task_complete","turn_id":"%[1]d","last_agent_message":"done","duration_ms":316}}`,
	}
	var out bytes.Buffer
	for n := range 5000 {
		for i, format := range turn {
			fmt.Fprintf(&out, `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":%d,"type":`, n*len(turn)+i)
			out.WriteString(strings.ReplaceAll(strings.ReplaceAll(format, "%[1]d", fmt.Sprint(n)), "%[2]s", text))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

func BenchmarkRead49MB(b *testing.B) {
	store := NewStore(OS(), b.TempDir())
	path := store.Path(fuzzName)
	data := longThread()
	require.NoError(b, appendTo(store, path, data))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		contents, err := store.Read(path)
		require.NoError(b, err)
		require.Len(b, contents.Lines, 60_000)
	}
}

// rewrittenLong returns the path of longThread, rewritten without its events.
func rewrittenLong(b *testing.B, store *Store) string {
	path := store.Path(fuzzName)
	require.NoError(b, appendTo(store, path, longThread()))
	rewriteLong(b, store, path, withoutEvents)
	return path
}

func rewriteLong(b *testing.B, store *Store, path string, p Projection) {
	log, _, err := store.Open(path)
	require.NoError(b, err)
	require.NoError(b, log.Append([]protocol.RolloutLine{lineOf([]byte("1"))}, false))
	b.StartTimer()
	require.NoError(b, log.CloseRewritten(p))
	b.StopTimer()
}

func withoutEvents(l protocol.RolloutLine) (protocol.RolloutLine, bool) {
	return l, l.Type != protocol.LineEventMsg
}

func BenchmarkReadJoined49MB(b *testing.B) {
	store := NewStore(OS(), b.TempDir())
	path := rewrittenLong(b, store)
	b.ResetTimer()
	b.StartTimer()
	b.ReportAllocs()
	for range b.N {
		contents, err := store.Read(path)
		require.NoError(b, err)
		require.True(b, contents.Backup.Joined)
	}
}

// BenchmarkCloseRewritten49MB appends a line to a backup and rewrites the file.
func BenchmarkCloseRewritten49MB(b *testing.B) {
	store := NewStore(OS(), b.TempDir())
	path := rewrittenLong(b, store)
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		rewriteLong(b, store, path, withoutEvents)
	}
}

func BenchmarkAppend(b *testing.B) {
	for name, sync := range map[string]bool{"buffered": false, "synced": true} {
		b.Run(name, func(b *testing.B) {
			log, err := NewStore(OS(), b.TempDir()).Create(home.ThreadID(fuzzName), time.Now())
			require.NoError(b, err)
			line := lineOf([]byte(`{"type":"agent_message","message":"` + strings.Repeat("words ", 100) + `"}`))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, log.Append([]protocol.RolloutLine{line}, sync))
			}
			require.NoError(b, log.Close())
		})
	}
}

// BenchmarkListPage lists the first 25 of 2,000 threads.
func BenchmarkListPage(b *testing.B) {
	store := NewStore(OS(), b.TempDir())
	meta := `{"timestamp":"t","type":"session_meta","payload":{"id":"x","base_instructions":{"text":"` +
		strings.Repeat("be brief ", 2000) + `"}}}`
	user := `{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"hi"}}`
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local)
	for n := range 2000 {
		path := store.PathFor(fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n), start.Add(time.Duration(n)*time.Hour))
		require.NoError(b, os.MkdirAll(filepath.Dir(path), disk.DirMode))
		require.NoError(b, os.WriteFile(path, []byte(meta+"\n"+user+"\n"), disk.FileMode))
	}
	for _, key := range []SortKey{SortCreated, SortUpdated} {
		b.Run(string(key), func(b *testing.B) {
			for b.Loop() {
				page, err := store.List(Query{Limit: 25, SortKey: key})
				require.NoError(b, err)
				require.Len(b, page.Heads, 25)
			}
		})
	}
}

// BenchmarkFork49MB stores a thread that begins with all lines of another one.
func BenchmarkFork49MB(b *testing.B) {
	store := NewStore(OS(), b.TempDir())
	path := store.PathFor(home.ThreadID(fuzzName), time.Now())
	if err := appendTo(store, path, longThread()); err != nil {
		b.Fatal(err)
	}
	var lines ordinalList
	_, reader, err := store.Load(path, &lines)
	if err != nil {
		b.Fatal(err)
	}
	seed := &Seed{First: lineOf([]byte("{}")), From: reader, Ordinals: lines,
		Choose: func(l protocol.RolloutLine) (protocol.RolloutLine, bool) { return l, true }}
	b.SetBytes(seed.Size())
	for b.Loop() {
		if err := seed.Each(func(int, protocol.RolloutLine, []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// ordinalList is a Loader that keeps the ordinals.
type ordinalList []int64

func (o *ordinalList) Begin(*LineReader) LineHandler {
	return func(l *protocol.RolloutLine) { *o = append(*o, *l.Ordinal) }
}

func (o *ordinalList) Continue(*LineReader, []byte) (LineHandler, bool) { return nil, false }

func (o *ordinalList) Snapshot(io.Writer) error { return errors.ErrUnsupported }
