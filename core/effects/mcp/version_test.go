package mcp_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/mcp"
)

// TestUnsupportedVersionsAreNamed: those of both sides, however the server refuses.
func TestUnsupportedVersionsAreNamed(t *testing.T) {
	t.Run("answered by a program", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "tools.json")
		require.NoError(t, os.WriteFile(file, []byte(`{"version":"1999-01-01","tools":[]}`), 0o600))
		r := newRig(t)
		r.Open("me", []mcp.Definition{define(t, "s", "-raw", file)}, r)
		r.untilState("MCP client for `s` failed to start: unsupported MCP version: the server answered with version " +
			`"1999-01-01"; appserver supports 2026-07-28, `)
		r.untilState("2024-11-05 and asked for 2025-06-18; use a version of the server")
	})
	for name, refuse := range map[string]func(http.ResponseWriter, message){
		"by a status":   status(400, "Bad Request: Unsupported protocol version (supported versions: 2031-01-01)"),
		"by an error":   rpcError(200, jsonType, -32602, "Unsupported protocol version: only 2031-01-01"),
		"by both":       rpcError(400, jsonType, -32000, "Unsupported protocol version: only 2031-01-01"),
		"with controls": rpcError(200, jsonType, -32602, "protocol version \x1b[31m 2031-01-01"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeService(t)
			s.before = func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method == "initialize" {
					refuse(w, m)
				}
				return m.Method == "initialize"
			}
			r := newRig(t)
			r.Open("me", []mcp.Definition{{Name: "s", URL: s.url, StartupTimeout: patience, ToolTimeout: patience}}, r)
			r.untilState("unsupported MCP version: the server refused version 2025-06-18: ")
			r.untilState("2031-01-01")
			require.NotContains(t, r.states[len(r.states)-1], "\x1b")
		})
	}
}
