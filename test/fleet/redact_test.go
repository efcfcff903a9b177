package fleet

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// printed runs a command, and returns all that it prints.
func printed(cmd *exec.Cmd) (string, error) {
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSecretsAreRemovedFromTheDatabase redacts a thread that was written with other patterns, and another
// one that a server has open.
func TestSecretsAreRemovedFromTheDatabase(t *testing.T) {
	t.Parallel()
	url, home := pgtest.Database(t), t.TempDir()
	n := newNode(t, url)
	id, other := n.StartTrusted(), n.StartTrusted()
	n.Turn(id, "the bluebird sings")
	n.Turn(other, "the blackbird sings")
	n.Call("thread/name/set", apptest.Object{"threadId": id, "name": "A bluebird"})
	words := []string{"-c", `history.sensitivePatterns=["bluebird"]`}
	would := store(t, home, url, append(words, "redact", "--dry-run")...)
	require.Regexp(t, id+`: \d+ lines, 1 name would be redacted\n1 thread with secrets\n`, would)

	out, err := printed(storeCommand(t, home, url, append(words, "redact", "--yes", id)...))
	require.Error(t, err, "a server has the thread open")
	require.Contains(t, out, "not redacted: "+id+": thread "+id+" is open on node ")
	n.Close()
	out, err = printed(storeCommand(t, home, url, append(words, "redact", id)...))
	require.Error(t, err)
	require.Contains(t, out, "add --yes to confirm")

	require.Regexp(t, id+`: \d+ lines, 1 name redacted\n1 thread with secrets\n$`,
		store(t, home, url, append(words, "redact", "--yes")...))
	require.Equal(t, "0 threads with secrets\n", store(t, home, url, append(words, "redact", "--yes")...))
	n = newNode(t, url)
	read := n.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
	require.Contains(t, string(read), "the [redacted] sings")
	for _, answer := range []json.RawMessage{read, n.Call("thread/list", apptest.Object{})} {
		require.NotContains(t, string(answer), "bluebird")
		require.Contains(t, string(answer), "A [redacted]")
	}
	found := n.Call("thread/search", apptest.Object{"searchTerm": "bluebird"})
	require.Empty(t, gjson.GetBytes(found, "data").Array())
	n.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "completed", n.Turn(id, "and again").Status)
	n.Close()
}
