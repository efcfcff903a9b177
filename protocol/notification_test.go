package protocol_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// deltas returns the deltas among the notifications.
func deltas() []protocol.Delta {
	var all []protocol.Delta
	for _, row := range protocol.Notifications() {
		if d, ok := (builder{full{}}.new(row.Params)).(protocol.Delta); ok {
			all = append(all, d)
		}
	}
	return all
}

func (b builder) new(t reflect.Type) any {
	p := reflect.New(t)
	p.Elem().Set(b.value(t))
	return p.Interface()
}

func TestDeltas(t *testing.T) {
	require.Len(t, deltas(), 5)
	for _, d := range deltas() {
		name := d.NotificationMethod()
		key := d.DeltaKey()
		require.Equal(t, name, key.Method)
		require.NotEmpty(t, key.ThreadID, name)
		require.NotEmpty(t, key.ItemID, name)

		before := encode(t, d)
		longer := d.WithDelta(d.DeltaText() + "more")
		require.Equal(t, d.DeltaText()+"more", longer.DeltaText())
		require.Equal(t, key, longer.DeltaKey(), "only the text is another")
		require.Equal(t, name, longer.NotificationMethod())
		require.Equal(t, before, encode(t, d), "the delta itself does not change")
	}
}

func TestDeltasOfDifferentTextsDoNotMerge(t *testing.T) {
	agent := &protocol.AgentMessageDeltaNotification{ThreadID: "t", ItemID: "i"}
	for _, other := range []protocol.Delta{
		&protocol.AgentMessageDeltaNotification{ThreadID: "t", ItemID: "j"},
		&protocol.AgentMessageDeltaNotification{ThreadID: "u", ItemID: "i"},
		&protocol.CommandExecutionOutputDeltaNotification{ThreadID: "t", ItemID: "i"},
		&protocol.ReasoningTextDeltaNotification{ThreadID: "t", ItemID: "i"},
		&protocol.ReasoningSummaryTextDeltaNotification{ThreadID: "t", ItemID: "i"},
	} {
		require.NotEqual(t, agent.DeltaKey(), other.DeltaKey())
	}
	first := &protocol.ReasoningTextDeltaNotification{ThreadID: "t", ItemID: "i"}
	second := &protocol.ReasoningTextDeltaNotification{ThreadID: "t", ItemID: "i", ContentIndex: 1}
	require.NotEqual(t, first.DeltaKey(), second.DeltaKey())
	part := &protocol.ReasoningSummaryTextDeltaNotification{ThreadID: "t", ItemID: "i", SummaryIndex: 1}
	require.Equal(t, 1, part.DeltaKey().Index)
}
