package protocol

// McpServerOauthLoginParams starts a login at an MCP server.
type McpServerOauthLoginParams struct {
	Name string `json:"name"`
	// ThreadID selects the configuration of a thread.
	ThreadID *string `json:"threadId,omitempty"`
	// ClientRegistration is auto, the default, or dcr. cimd is rejected.
	ClientRegistration *string `json:"clientRegistration,omitempty" oneof:"auto cimd dcr"`
	// Scopes override the scopes of the configuration.
	Scopes *[]string `json:"scopes,omitempty"`
	// TimeoutSecs is the time limit of the login, in seconds. Values below 1 count as 1.
	TimeoutSecs *int64 `json:"timeoutSecs,omitempty"`
}

// Check rejects a way of registration that this server does not have.
func (p *McpServerOauthLoginParams) Check() error {
	if p.ClientRegistration != nil && *p.ClientRegistration == "cimd" {
		return InvalidParams("clientRegistration",
			"`clientRegistration`: this program publishes no client metadata document: use dcr, or set client_id of the server")
	}
	return nil
}

// McpServerOauthLoginResponse has the address to open in a browser. A
// mcpServer/oauthLogin/completed notification follows with the same id.
type McpServerOauthLoginResponse struct {
	AuthorizationURL string `json:"authorizationUrl"`
	LoginID          string `json:"loginId"`
}

// McpServerOauthLoginCompletedNotification reports the end of a login.
type McpServerOauthLoginCompletedNotification struct {
	Name     string  `json:"name"`
	ThreadID *string `json:"threadId"`
	LoginID  *string `json:"loginId"`
	Success  bool    `json:"success"`
	// Error is the reason of a failure. It is absent otherwise.
	Error *string `json:"error,omitempty"`
}

// NotificationMethod returns "mcpServer/oauthLogin/completed".
func (McpServerOauthLoginCompletedNotification) NotificationMethod() string {
	return "mcpServer/oauthLogin/completed"
}
