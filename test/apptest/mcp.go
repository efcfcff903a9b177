package apptest

import (
	"sync"
)

// MCPProgram is a server of the Model Context Protocol, built once for all tests.
var MCPProgram = sync.OnceValues(func() (string, error) { return Build("mcp-server", "./core/mcp/testdata/server") })

const DocsServerConfig = "[mcp_servers.docs]\ncommand = \"PROGRAM\"\n"
