package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// mostThreads is how many rollouts are made. Homes with fewer have the first of them.
const mostThreads = 50_000

// stock is a folder with mostThreads rollouts, made once a run. APPSERVER_BENCH_HOMES names
// a folder that keeps them for the next one.
var stock = sync.OnceValues(func() (string, error) {
	base := os.Getenv("APPSERVER_BENCH_HOMES")
	if base == "" {
		dir, err := apptest.BuildDir()
		if err != nil {
			return "", err
		}
		base = dir
	}
	made := filepath.Join(base, fmt.Sprintf("threads-%d", mostThreads))
	if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
		return made, err
	}
	making := made + ".making"
	if err := errors.Join(os.RemoveAll(making), writeStock(making)); err != nil {
		return "", err
	}
	return made, os.Rename(making, made)
})

// benchRollout returns the n-th thread, oldest first, and where its rollout is below sessions.
func benchRollout(n int) (id, path string, at time.Time) {
	at = time.Date(2024, 1, 2, 3, 4, 5, 0, time.Local).Add(time.Duration(n) * 12 * time.Minute)
	id = fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n)
	return id, filepath.Join(at.Format("2006/01/02"), "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id+".jsonl"), at
}

// benchQuestion returns the first message of the user in thread n.
func benchQuestion(n int) string { return fmt.Sprintf("question %d:", n) }

func writeStock(dir string) error {
	random := rand.New(rand.NewPCG(1, 2))
	prose := apptest.RandomWords(random, 200_000)
	for n := range mostThreads {
		id, path, at := benchRollout(n)
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, benchThread(random, prose, n, id, at), 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, at, at); err != nil {
			return err
		}
	}
	return nil
}

// benchThread returns a rollout of 3 to 10 KB in the form that the reference implementation has
// had the longest: a question, and one to three rounds of a command and an answer.
func benchThread(random *rand.Rand, prose string, n int, id string, at time.Time) []byte {
	var out bytes.Buffer
	some := func(size int) string {
		from := random.IntN(len(prose) - size)
		return prose[from : from+size]
	}
	line := func(kind, format string, args ...any) {
		fmt.Fprintf(&out, `{"timestamp":%q,"type":%q,"payload":%s}`+"\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), kind,
			fmt.Sprintf(format, args...))
	}
	question := benchQuestion(n) + " " + some(100)
	line("session_meta",
		`{"id":%q,"timestamp":%q,"cwd":"/x","originator":"codex_cli_rs","cli_version":"0.40.0","source":"cli","model_provider":"offline","base_instructions":{"text":%q}}`,
		id, at.UTC().Format(time.RFC3339), some(800))
	line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, question)
	line("event_msg", `{"type":"user_message","message":%q,"images":[]}`, question)
	line("turn_context",
		`{"cwd":"/x","approval_policy":"never","sandbox_policy":{"type":"danger-full-access"},"model":"m","summary":"auto"}`)
	for round := range 1 + random.IntN(3) {
		line("response_item", `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c%d"}`,
			round)
		line("response_item", `{"type":"function_call_output","call_id":"c%d","output":%q}`, round,
			some(200+random.IntN(1500)))
		answer := some(200 + random.IntN(400))
		line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, answer)
		line("event_msg", `{"type":"agent_message","message":%q}`, answer)
	}
	return out.Bytes()
}

// benchHome is a home with threads of the stock.
type benchHome struct {
	path  string
	count int
	// size is the size of all rollouts, in bytes.
	size  int64
	ready bool
}

// newBenchHome links the rollouts, so that it must lie where the stock does.
func newBenchHome(b testing.TB, count int) *benchHome {
	from, err := stock()
	require.NoError(b, err)
	home, err := os.MkdirTemp(filepath.Dir(from), "home-")
	require.NoError(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(home) })
	h := &benchHome{path: home, count: count}
	for n := range count {
		_, path, _ := benchRollout(n)
		to := filepath.Join(home, "sessions", path)
		require.NoError(b, os.MkdirAll(filepath.Dir(to), 0o700))
		require.NoError(b, os.Link(filepath.Join(from, path), to))
		info, err := os.Stat(to)
		require.NoError(b, err)
		h.size += info.Size()
	}
	h.age(b)
	return h
}

// age sets the times of folders to the times of their threads. Servers read recently changed folders
// again.
func (h *benchHome) age(b testing.TB) {
	for n := range h.count {
		_, path, at := benchRollout(n)
		for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
			require.NoError(b, os.Chtimes(filepath.Join(h.path, "sessions", dir), at, at))
			if dir == "." {
				break
			}
		}
	}
}

// reset takes away what servers keep beside the rollouts.
func (h *benchHome) reset(b testing.TB) {
	h.ready = false
	entries, err := os.ReadDir(h.path)
	require.NoError(b, err)
	for _, e := range entries {
		if e.Name() != "sessions" {
			require.NoError(b, os.RemoveAll(filepath.Join(h.path, e.Name())))
		}
	}
}

// newest returns the ids of the first page of threads that a text leads to.
func (h *benchHome) newest(term string) (ids []string) {
	for n := h.count - 1; n >= 0 && len(ids) < 25; n-- {
		if id, _, _ := benchRollout(n); strings.Contains(benchQuestion(n), term) {
			ids = append(ids, id)
		}
	}
	return ids
}
