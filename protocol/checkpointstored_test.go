package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// TestStoredPathsAreKept expects paths of any bytes to survive a round trip.
func TestStoredPathsAreKept(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		path := rapid.OneOf(rapid.String(),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "path")
		change := protocol.WorktreeChange{Path: path, After: protocol.WorktreeFile{Mode: 0o100755, Object: "1"}}
		raw, err := protocol.Marshal(protocol.WorktreeChanges{ID: "turn", Root: "/",
			Changes: []protocol.WorktreeChange{change}})
		require.NoError(t, err)
		var read protocol.WorktreeChanges
		require.NoError(t, json.Unmarshal(raw, &read))
		require.Equal(t, []protocol.WorktreeChange{change}, read.Changes)
	})
}

func TestStoredChangesAreShort(t *testing.T) {
	raw, err := protocol.Marshal(protocol.WorktreeChange{Path: "a",
		Before: protocol.WorktreeFile{Mode: 0o100644, Object: "1"}})
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"a","before":{"mode":33188,"object":"1"},"after":{}}`, string(raw))
}
