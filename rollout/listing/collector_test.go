package listing_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/listing"
)

// TestATurnThatRanBeforeTheFirstLineRunsUntilItsEnd expects that a collector which continues a head knows of a
// turn that began before its lines.
func TestATurnThatRanBeforeTheFirstLineRunsUntilItsEnd(t *testing.T) {
	c := listing.NewCollector(listing.Head{}, true, true)
	c.Add(protocol.RolloutLine{Type: protocol.LineTurnWaiting, Payload: json.RawMessage(`{"turn_id":"t"}`)})
	require.True(t, c.Running())
	c.Add(protocol.RolloutLine{Type: protocol.LineEventMsg, Payload: json.RawMessage(`{"type":"task_complete"}`)})
	require.False(t, c.Running())
}
