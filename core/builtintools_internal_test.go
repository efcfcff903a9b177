package core

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
)

// TestBuiltInToolsAreCompleteAndUnique checks each row: its specification has the row's name and the schema of an
// object, and it decodes calls.
func TestBuiltInToolsAreCompleteAndUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range builtInTools() {
		spec := tool.spec(&Thread{searched: searchedServers{text: "docs (1)"}})
		require.Equal(t, tool.name, spec.Name)
		require.False(t, seen[tool.name], tool.name)
		seen[tool.name] = true
		require.NotEmpty(t, spec.Description)
		require.NotNil(t, tool.decode, tool.name)
		var schema struct{ Type string }
		require.NoError(t, json.Unmarshal(spec.Parameters, &schema), tool.name)
		require.Equal(t, "object", schema.Type)
	}
	for _, name := range BuiltInTools() {
		require.True(t, seen[name], name)
	}
	thread := Load("t", Options{}, Settings{}, nil)
	require.Equal(t, toolspec.Shell, thread.builtInTool("local_shell").name)
	require.Equal(t, toolspec.ExecCommand, thread.builtInTool(toolspec.ExecCommand).name)
	require.Nil(t, thread.builtInTool("unknown"))
}
