package apptest

import (
	"sync"
)

// MCPProgram returns the path of an MCP server, built once.
var MCPProgram = sync.OnceValues(func() (string, error) { return Build("mcp-server", "./core/mcp/testdata/server") })

const DocsServerConfig = "[mcp_servers.docs]\ncommand = \"PROGRAM\"\n"
