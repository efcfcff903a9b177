package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/mcp"
)

// TestServicesMaySendToolsThatCannotBeDecoded: a service over HTTP answers with a message or with events. A tool whose
// description is no text is offered beside the others.
func TestServicesMaySendToolsThatCannotBeDecoded(t *testing.T) {
	for _, format := range []string{"application/json", "text/event-stream"} {
		t.Run(format, func(t *testing.T) {
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				body, _ := io.ReadAll(r.Body)
				if json.Unmarshal(body, &m) != nil || m.ID == nil {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				result := introduction
				if m.Method == "tools/list" {
					result = `{"tools":[{"name":"a","description":7},{"name":"b","inputSchema":{"type":"array"}},{"name":9}]}`
				}
				w.Header().Set("Content-Type", format)
				message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
				if format == "text/event-stream" {
					message = "event: message\ndata: " + message + "\n\n"
				}
				_, _ = io.WriteString(w, message)
			}))
			t.Cleanup(service.Close)
			r := newRigOf(t, time.Hour, nil)
			d := mcp.Definition{Name: "s", URL: service.URL, StartupTimeout: time.Minute, ToolTimeout: time.Minute}
			r.Open("me", []mcp.Definition{d}, r)
			var names []string
			for _, tool := range r.Await(context.Background(), "me", time.Minute) {
				names = append(names, tool.Name)
				require.JSONEq(t, `{"type":"object","properties":{}}`, string(tool.Parameters))
			}
			require.Equal(t, []string{"mcp__s__a", "mcp__s__b"}, names)
		})
	}
}
