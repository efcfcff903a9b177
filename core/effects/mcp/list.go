package mcp

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/core/pure/toolschema"
)

// maxEntries bounds the length of lists, and maxListBytes the size of lists with several pages, in
// bytes.
const (
	maxEntries   = 10_000
	maxListBytes = 16 << 20
)

// listed is a tool of a server, with its schema in the form for models.
type listed struct {
	*sdk.Tool
	schema toolschema.Schema
}

func listTools(ctx context.Context, session *sdk.ClientSession) (tools []listed, meta sdk.Meta, err error) {
	if c := session.InitializeResult().Capabilities; c == nil || c.Tools == nil {
		return nil, nil, nil
	}
	var params sdk.ListToolsParams
	for size := 0; ; {
		page, err := session.ListTools(ctx, &params)
		if err != nil {
			return nil, nil, fmt.Errorf("its tools could not be listed: %w", err)
		}
		if params.Cursor == "" {
			meta = page.Meta
		}
		for _, t := range page.Tools {
			size += len(toJSON(t))
			if t != nil {
				tools = append(tools, listed{t, toolschema.Normalize(toJSON(t.InputSchema))})
			}
		}
		if page.NextCursor == "" || len(tools) >= maxEntries || size >= maxListBytes {
			return withoutDuplicates(tools), meta, nil
		}
		params.Cursor = page.NextCursor
	}
}

// withoutDuplicates removes tools without a name and duplicates.
func withoutDuplicates(tools []listed) []listed {
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(tools, func(t listed) bool {
		known := seen[t.Name]
		seen[t.Name] = true
		return known
	})
}
