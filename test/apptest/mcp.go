package apptest

import (
	"sync"
)

// MCPProgram returns the path of an MCP server, built once.
var MCPProgram = sync.OnceValues(func() (string, error) {
	return Build("mcp-server", "./core/effects/mcp/testdata/server")
})

// DocsServerConfig configures the MCP server docs. Replace PROGRAM by the path of its program. A thread waits for its
// tools, which a turn does for two seconds only if it is not required.
const DocsServerConfig = "[mcp_servers.docs]\ncommand = \"PROGRAM\"\nrequired = true\n"
