package index

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/rollout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sampled returns the number of n equal entries that a test makes.
func sampled(n int) int {
	if testing.Short() {
		return n / 3
	}
	return n
}

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// rig is a home with an index.
type rig struct {
	t     require.TestingT
	home  string
	store *rollout.Store
	ix    *Index
	// faults has the errors that the index reported.
	faults []error
}

func newRig(t *testing.T) *rig {
	r := rigAt(t, t.TempDir())
	t.Cleanup(func() { require.NoError(t, r.ix.Close(context.Background())) })
	return r
}

func rigAt(t require.TestingT, home string) *rig {
	r := &rig{t: t, home: home, store: rollout.NewStore(rollout.OS(), home)}
	r.reopen()
	return r
}

// reopen opens the index as another process does.
func (r *rig) reopen() {
	if r.ix != nil {
		require.NoError(r.t, r.ix.Close(context.Background()))
	}
	r.ix = New(Options{Store: r.store, Path: r.file(), Report: func(err error) { r.faults = append(r.faults, err) }})
}

func (r *rig) file() string { return filepath.Join(r.home, "appserver-index.sqlite") }

// built waits until every file was looked at once.
func (r *rig) built() {
	for range 10 {
		r.ix.mu.Lock()
		usable, sweeping := r.ix.usableLocked(), r.ix.sweeping
		r.ix.mu.Unlock()
		if usable {
			return
		}
		if sweeping != nil {
			<-sweeping
		}
	}
	require.Fail(r.t, "the index is never built", "%v", r.faults)
}

func (r *rig) list(q rollout.Query) rollout.Page {
	page, ok := rollout.Page{}, false
	for n := 0; !ok && n < 10; n++ { // changes of many files need a sweep
		r.built()
		page, ok = r.ix.List(q)
	}
	require.True(r.t, ok, "%v", r.faults)
	return page
}

func (r *rig) search(q rollout.Query) rollout.Hits {
	r.built()
	hits, err := r.ix.Search(r.context(), q)
	require.NoError(r.t, err)
	require.True(r.t, hits.Complete)
	return hits
}

// indexed returns the files that the index has, whether they exist or not.
func (r *rig) indexed() map[location]indexedState {
	files, err := knownFiles(r.ix.db.Read, "")
	require.NoError(r.t, err)
	return files
}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// path returns the rollout of thread n. Each is half a day and some minutes later than the one before.
func (r *rig) path(n int) string {
	return r.store.PathFor(idOf(n), begin.Add(time.Duration(n)*13*time.Hour))
}

func (r *rig) put(path, content string) {
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(r.t, os.WriteFile(path, []byte(content), 0o600))
}

func (r *rig) add(path, content string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(r.t, err)
	_, err = f.WriteString(content)
	require.NoError(r.t, err)
	require.NoError(r.t, f.Close())
}

// thread returns a rollout with these messages, of the user and the agent in turn.
func thread(meta string, texts ...string) string {
	lines := metaLine(meta)
	for i, text := range texts {
		if i%2 == 0 {
			lines += userLine(text)
		} else {
			lines += agentLine(text)
		}
	}
	return lines
}

func metaLine(members string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{` + members + "}}\n"
}

func userLine(text string) string {
	return item("user", "input_text", text) +
		`{"timestamp":"","type":"event_msg","payload":{"type":"user_message","message":` + quote(text) + "}}\n"
}

func agentLine(text string) string {
	return item("assistant", "output_text", text) +
		`{"timestamp":"","type":"event_msg","payload":{"type":"agent_message","message":` + quote(text) + "}}\n"
}

func item(role, kind, text string) string {
	return `{"timestamp":"","type":"response_item","payload":{"type":"message","role":"` + role +
		`","content":[{"type":"` + kind + `","text":` + quote(text) + "}]}}\n"
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

func previews(p rollout.Page) string {
	var list []string
	for _, h := range p.Heads {
		list = append(list, h.Preview)
	}
	return strings.Join(list, ", ")
}

func snippets(h rollout.Hits) string {
	var list []string
	for _, h := range h.Hits {
		list = append(list, h.Snippet)
	}
	return strings.Join(list, ", ")
}
