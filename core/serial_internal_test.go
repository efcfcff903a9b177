package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSerialServersAreCalledOneByOne checks supports_parallel_tool_calls = false, which only tools that read notice.
func TestSerialServersAreCalledOneByOne(t *testing.T) {
	s := &step{}
	reads := ServerTool{ReadOnly: new(true)}
	require.True(t, s.readsOnly(&toolCall{server: &serverCall{tool: reads}}))
	reads.Serial = true
	require.False(t, s.readsOnly(&toolCall{server: &serverCall{tool: reads}}))
}
