package protocol

// ServerRequestListParams asks for the requests of the server that no client has answered, of one
// thread or of all loaded threads. Cursor is the NextCursor of the page before. Without Limit, one page
// has all.
type ServerRequestListParams struct {
	ThreadID *string `json:"threadId,omitempty"`
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
}

// ServerRequestListResponse is a page of open requests, oldest first. NextCursor is null at the end.
type ServerRequestListResponse struct {
	Data       []OpenServerRequest `json:"data"`
	NextCursor *string             `json:"nextCursor"`
}

// OpenServerRequest is a request that no client has answered. RequestID is its JSON-RPC id. Method and
// Params are those of the request. To answer it, resume the thread: the server then sends the request
// to this client too, with the same id. TurnID is null if no turn was active, ItemID if the request
// belongs to no tool call: both occur for questions of MCP servers. AskedAt is in Unix seconds.
type OpenServerRequest struct {
	RequestID uint64  `json:"requestId"`
	ThreadID  string  `json:"threadId"`
	TurnID    *string `json:"turnId"`
	ItemID    *string `json:"itemId"`
	Method    string  `json:"method"`
	Params    any     `json:"params"`
	AskedAt   int64   `json:"askedAt"`
}
