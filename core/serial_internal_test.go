package core

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSerialServersAreCalledOneByOne checks supports_parallel_tool_calls = false, which only tools that read notice.
func TestSerialServersAreCalledOneByOne(t *testing.T) {
	s := &step{}
	reads := ServerTool{ReadOnly: new(true)}
	require.True(t, (&serverCall{tool: reads}).readsOnly(s))
	reads.Serial = true
	require.False(t, (&serverCall{tool: reads}).readsOnly(s))
}
