package protocol

// McpServerOauthLoginParams begins a login at an MCP server, of the thread's configuration if there is a thread. Scopes
// override those of the configuration. TimeoutSecs is the time that the user has; 0 and less count as 1. Clients cannot
// be registered by cimd.
type McpServerOauthLoginParams struct {
	Name               string    `json:"name"`
	ThreadID           *string   `json:"threadId,omitempty"`
	ClientRegistration *string   `json:"clientRegistration,omitempty" oneof:"auto cimd dcr"`
	Scopes             *[]string `json:"scopes,omitempty"`
	TimeoutSecs        *int64    `json:"timeoutSecs,omitempty"`
}

// Check rejects a way of registration that this server does not have.
func (p *McpServerOauthLoginParams) Check() error {
	if p.ClientRegistration != nil && *p.ClientRegistration == "cimd" {
		return InvalidParams("clientRegistration",
			"`clientRegistration`: this program publishes no client metadata document: use dcr, or set client_id of the server")
	}
	return nil
}

// McpServerOauthLoginResponse has the address to open. McpServerOauthLoginCompletedNotification follows with the
// same id.
type McpServerOauthLoginResponse struct {
	AuthorizationURL string `json:"authorizationUrl"`
	LoginID          string `json:"loginId"`
}

// McpServerOauthLoginCompletedNotification reports the end of a login. Error is the reason of a failure.
type McpServerOauthLoginCompletedNotification struct {
	Name     string  `json:"name"`
	ThreadID *string `json:"threadId"`
	LoginID  *string `json:"loginId"`
	Success  bool    `json:"success"`
	Error    *string `json:"error,omitempty"`
}

// NotificationMethod is mcpServer/oauthLogin/completed.
func (McpServerOauthLoginCompletedNotification) NotificationMethod() string {
	return "mcpServer/oauthLogin/completed"
}
