package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestEveryOperationHasARow requires a row for each operation of the protocol, and one row for each op of the log.
func TestEveryOperationHasARow(t *testing.T) {
	all := selection{&History{}, func(*protocol.PruneRange) (func(string) bool, *protocol.Error) {
		return func(string) bool { return true }, nil
	}}
	for _, request := range protocol.ContextOperations() {
		rows := 0
		for _, o := range operations() {
			if _, _, ok := o.plan(request, all); ok {
				rows++
			}
		}
		require.Equal(t, 1, rows, "%T", request)
	}
	seen := map[string]bool{}
	for _, o := range operations() {
		for _, e := range o.effects {
			require.False(t, seen[e.op], e.op)
			require.NotNil(t, e.apply, e.op)
			seen[e.op] = true
		}
	}
}

// TestUnknownOperationsAreRejected rejects a request that no row of the table plans. A line with an unknown op counts
// as an edit and changes nothing.
func TestUnknownOperationsAreRejected(t *testing.T) {
	var h History
	_, err := h.Plan(nil, nil)
	require.ErrorContains(t, err, "is no operation on the context")
	h.ApplyEdit(&Line{RolloutLine: protocol.RolloutLine{Payload: []byte(`{"op":"later","ids":["r1"]}`)}})
	require.Equal(t, int64(1), h.Revision())
	require.Empty(t, h.Journal())
}
