package protocol

// ServerRequestListParams requests the open requests of the server, which no client has answered.
type ServerRequestListParams struct {
	// ThreadID selects a thread. The default is all loaded threads.
	ThreadID *string `json:"threadId,omitempty"`
	// Cursor is the nextCursor of the page before.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the maximum number of requests of a page. By default, one page has all.
	Limit *uint32 `json:"limit,omitempty"`
}

// ServerRequestListResponse is a page of open requests, oldest first.
type ServerRequestListResponse struct {
	Data []OpenServerRequest `json:"data"`
	// NextCursor is null on the last page.
	NextCursor *string `json:"nextCursor"`
}

// OpenServerRequest is a request that no client has answered. To answer it, resume the thread: the
// server then sends the request to this client as well, with the same id.
type OpenServerRequest struct {
	// RequestID is the JSON-RPC id of the request.
	RequestID uint64 `json:"requestId"`
	ThreadID  string `json:"threadId"`
	// TurnID is null if no turn was active, for some questions of MCP servers.
	TurnID *string `json:"turnId"`
	// ItemID is null if the request belongs to no tool call, for some questions of MCP servers.
	ItemID *string `json:"itemId"`
	Method string  `json:"method"`
	Params any     `json:"params"`
	// AskedAt is in Unix seconds.
	AskedAt int64 `json:"askedAt"`
}
