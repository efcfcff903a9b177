package shared_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// bleep removes the word secret.
type bleep struct{}

func (bleep) Line(l protocol.RolloutLine) protocol.RolloutLine {
	l.Payload = bytes.ReplaceAll(l.Payload, []byte("secret"), []byte("------"))
	return l
}

func (bleep) Text(text string) string { return strings.ReplaceAll(text, "secret", "------") }

// keep stores a closed thread.
func keep(t *testing.T, node store.Threads, messages ...string) {
	t.Helper()
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(texts(0, messages...), true))
	require.NoError(t, journal.Close())
}

// filesWith returns the files of a node's copies that contain a text.
func filesWith(t *testing.T, node store.Threads, text string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(copiesOf(node), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			names = append(names, entry.Name())
		}
		return err
	}))
	return names
}

// hits returns the number of threads with a text.
func hits(t *testing.T, node store.Threads, text string) int {
	t.Helper()
	found, err := node.Search(context.Background(), rollout.Query{Search: text})
	require.NoError(t, err)
	return len(found.Hits)
}

// TestARedactionRemovesSecretsEverywhere redacts a thread of which another node has a copy. The secret has
// the length of its replacement, so that the copy has the right size.
func TestARedactionRemovesSecretsEverywhere(t *testing.T) {
	open := nodes(t)
	first, second := open(t, "here"), open(t, "here")
	keep(t, first, "the secret", "one", "a secret word", "two")
	require.NoError(t, first.Rename(threadID, "a secret name", time.Time{}))
	require.Len(t, read(t, second), 4)
	require.Len(t, filesWith(t, second, "secret"), 1)
	require.Equal(t, 1, hits(t, first, "secret word"))

	here := first.(*shared.Threads)
	counted, err := here.Redact(threadID, bleep{}, false)
	require.NoError(t, err)
	require.Equal(t, shared.Redacted{Lines: 2, Names: 1}, counted)
	require.Len(t, filesWith(t, first, "secret"), 1, "nothing was changed")
	done, err := here.Redact(threadID, bleep{}, true)
	require.NoError(t, err)
	require.Equal(t, counted, done)

	want := []string{"the ------", "one", "a ------ word", "two"}
	for _, node := range []store.Threads{first, second} {
		require.Equal(t, want, read(t, node))
		require.Empty(t, filesWith(t, node, "secret"))
		require.Equal(t, 0, hits(t, node, "secret"))
	}
	require.Equal(t, 1, hits(t, first, "------ word"))
	page, err := second.List(rollout.Query{})
	require.NoError(t, err)
	require.Equal(t, "the ------", page.Heads[0].Preview)
	require.Equal(t, "a ------ name", page.Heads[0].Name)
	again, err := here.Redact(threadID, bleep{}, true)
	require.NoError(t, err)
	require.Zero(t, again)
}

// TestAnOpenThreadIsNotRedacted redacts a thread that is open on this node or another one.
func TestAnOpenThreadIsNotRedacted(t *testing.T) {
	open := nodes(t)
	first, second := open(t, "here"), open(t, "here")
	keep(t, first, "the secret")
	journal, _, err := first.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.NoError(t, err)
	var locked *rollout.LockedError
	for _, node := range []store.Threads{first, second} {
		_, err := node.(*shared.Threads).Redact(threadID, bleep{}, true)
		require.ErrorAs(t, err, &locked)
	}
	require.NoError(t, journal.Append(texts(1, "more"), true))
	require.NoError(t, journal.Close())
	require.Equal(t, []string{"the secret", "more"}, read(t, second))
}
