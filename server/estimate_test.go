package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestEstimate checks that large values have large estimates, and that counting stops at the
// limit.
func TestEstimate(t *testing.T) {
	const limit = 1 << 20
	text := strings.Repeat("x", 1000)
	item := completed("i")
	item.Item.ThreadItemVariant = &protocol.AgentMessageItem{Text: text}
	for name, v := range map[string]any{
		"text":       text,
		"bytes":      []byte(text),
		"raw JSON":   json.RawMessage(text),
		"pointer":    &text,
		"in a map":   map[string]any{"k": []any{text}},
		"map key":    map[string]int{text: 1},
		"array":      [1]string{text},
		"an item":    item,
		"interfaces": []any{any(&item)},
	} {
		size := estimate(v, limit)
		require.GreaterOrEqual(t, size, 1000, name)
		require.LessOrEqual(t, size, 2000, name)
		require.LessOrEqual(t, estimate(v, 100), 100, name)
	}
	require.LessOrEqual(t, estimate(nil, limit), scalarSize)
	require.LessOrEqual(t, estimate((*protocol.Thread)(nil), limit), scalarSize)

	type loop struct{ Next *loop }
	endless := new(loop)
	endless.Next = endless
	require.Less(t, estimate(endless, limit), limit, "a cycle ends")
}
