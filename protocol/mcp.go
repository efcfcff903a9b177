package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// McpToolCallItem is a call of a tool of an MCP server. If the tool reports its own failure, it has
// a Result and the status failed. The members of apps and plugins are always null.
type McpToolCallItem struct {
	ID     string `json:"id"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	Status string `json:"status" oneof:"inProgress completed failed"`
	// Arguments are the arguments from the model.
	Arguments  json.RawMessage `json:"arguments"`
	AppContext json.RawMessage `json:"appContext"`
	McpAppUI   json.RawMessage `json:"mcpAppUi"`
	PluginID   *string         `json:"pluginId"`
	// ReadOnlyHint is the hint of the server, or null.
	ReadOnlyHint *bool `json:"readOnlyHint"`
	// Result is null until the call has ended, or if the call has an Error.
	Result *McpToolCallResult `json:"result"`
	// Error is the reason for which the call has no result, or null.
	Error *McpToolCallError `json:"error"`
	// DurationMs is in milliseconds.
	DurationMs *int64 `json:"durationMs"`
}

// The states of a call of a tool.
const (
	McpCallInProgress = "inProgress"
	McpCallCompleted  = "completed"
	McpCallFailed     = "failed"
)

// ItemID returns the item's id.
func (i *McpToolCallItem) ItemID() string { return i.ID }

// McpToolCallResult is the result of a tool.
type McpToolCallResult struct {
	// Content has content blocks of the Model Context Protocol.
	Content []json.RawMessage `json:"content"`
	// StructuredContent is the structured form of the result, or null.
	StructuredContent json.RawMessage `json:"structuredContent"`
	Meta              json.RawMessage `json:"_meta"`
}

// McpToolCallError is the reason for which a call has no result.
type McpToolCallError struct {
	Message string `json:"message"`
}

// McpToolCallProgressNotification has a progress message of a running tool.
type McpToolCallProgressNotification struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Message  string `json:"message"`
}

// NotificationMethod returns "item/mcpToolCall/progress".
func (McpToolCallProgressNotification) NotificationMethod() string {
	return "item/mcpToolCall/progress"
}

// McpServerStatusUpdatedNotification reports the state of a thread's connection to an MCP server.
type McpServerStatusUpdatedNotification struct {
	ThreadID *string `json:"threadId"`
	Name     string  `json:"name"`
	Status   string  `json:"status" oneof:"starting ready failed cancelled"`
	// Error is the reason of a failure, or null.
	Error *string `json:"error"`
	// FailureReason is reauthenticationRequired if a login is no longer valid, and null otherwise.
	FailureReason *string `json:"failureReason" oneof:"reauthenticationRequired"`
}

// NotificationMethod returns "mcpServer/startupStatus/updated".
func (McpServerStatusUpdatedNotification) NotificationMethod() string {
	return "mcpServer/startupStatus/updated"
}

// The words of McpServerStatusUpdatedNotification.Status.
const (
	McpStarting = "starting"
	McpReady    = "ready"
	McpFailed   = "failed"
)

// McpReauthenticationRequired is a McpServerStatusUpdatedNotification.FailureReason.
const McpReauthenticationRequired = "reauthenticationRequired"

// ListMcpServerStatusParams requests the state of the MCP servers, by name.
type ListMcpServerStatusParams struct {
	Cursor *string `json:"cursor,omitempty"`
	Limit  *uint32 `json:"limit,omitempty"`
	// Detail is full, the default, or toolsAndAuthOnly, which leaves out the resources.
	Detail *string `json:"detail,omitempty" oneof:"full toolsAndAuthOnly"`
	// ThreadID selects the connections of a thread. By default, the server connects to each MCP
	// server for the response.
	ThreadID   *string `json:"threadId,omitempty"`
	ServerName *string `json:"serverName,omitempty"`
}

// ListMcpServerStatusResponse is a page of MCP servers.
type ListMcpServerStatusResponse struct {
	Data       []McpServerStatus `json:"data"`
	NextCursor *string           `json:"nextCursor"`
}

// McpServerStatus is the state of an MCP server, with its tools and resources in the form of the
// Model Context Protocol.
type McpServerStatus struct {
	Name string `json:"name"`
	// RuntimeStatus is null if the request named no thread.
	RuntimeStatus *string `json:"runtimeStatus" oneof:"notStarted starting connected authenticationRequired failed cancelled disabled"`
	PluginID      *string `json:"pluginId"`
	// HTTPOrigin is the scheme and host of a server that is connected by HTTP, and null otherwise.
	HTTPOrigin         *string                    `json:"httpOrigin"`
	ServerInfo         *McpServerInfo             `json:"serverInfo"`
	ServerCapabilities json.RawMessage            `json:"serverCapabilities"`
	ToolListMeta       json.RawMessage            `json:"toolListMeta"`
	Tools              map[string]json.RawMessage `json:"tools"`
	// ToolsError is the reason if the tools are unknown, and null otherwise.
	ToolsError        *string           `json:"toolsError"`
	Resources         []json.RawMessage `json:"resources"`
	ResourceTemplates []json.RawMessage `json:"resourceTemplates"`
	AuthStatus        string            `json:"authStatus" oneof:"unknown unsupported notLoggedIn bearerToken oAuth"`
}

// McpServerInfo has the facts that a server reports about itself.
type McpServerInfo struct {
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Version     string            `json:"version"`
	Description *string           `json:"description"`
	Icons       []json.RawMessage `json:"icons"`
	WebsiteURL  *string           `json:"websiteUrl"`
}

// McpServerToolCallParams calls a tool of an MCP server to which a thread is connected. The
// conversation does not change.
type McpServerToolCallParams struct {
	ThreadID  string          `json:"threadId"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Meta      json.RawMessage `json:"_meta,omitempty"`
}

// McpServerToolCallResponse is the result of the tool.
type McpServerToolCallResponse struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitempty"`
	IsError           *bool             `json:"isError,omitempty"`
	Meta              json.RawMessage   `json:"_meta,omitempty"`
}

// McpResourceReadParams reads a resource of an MCP server. ConnectorID and Target select a resource
// of an app, and are rejected.
type McpResourceReadParams struct {
	// Meta must be an object, and has no effect.
	Meta json.RawMessage `json:"_meta,omitempty"`
	// ThreadID selects the connection of a thread. By default, the server connects to the MCP
	// server for the response.
	ThreadID     *string         `json:"threadId,omitempty"`
	OriginCallID *string         `json:"originCallId,omitempty"`
	Server       string          `json:"server"`
	URI          string          `json:"uri"`
	ConnectorID  *string         `json:"connectorId,omitempty"`
	Target       json.RawMessage `json:"target,omitempty"`
}

// Check rejects members that select a resource of an app, since another resource would be read.
func (p *McpResourceReadParams) Check() error {
	if p.ConnectorID != nil {
		return InvalidParams("connectorId", "`connectorId`: there are no apps")
	}
	if p.Target != nil {
		return InvalidParams("target", "`target`: there are no apps")
	}
	if meta := gjson.ParseBytes(p.Meta); p.Meta != nil && !meta.IsObject() {
		return InvalidParams("_meta", "`_meta`: %v", wrongType(meta, "an object"))
	}
	return nil
}

// McpResourceReadResponse is the content of a resource.
type McpResourceReadResponse struct {
	Contents []json.RawMessage `json:"contents"`
	// OriginCallID is always null.
	OriginCallID *string `json:"originCallId"`
}

// McpServerRefreshParams has no members. The reference implementation has this name for the response.
type McpServerRefreshParams struct{}

// MethodElicitation is the method of requests for data of the user on behalf of an MCP server, and
// for the approval of a call of its tools.
const MethodElicitation = "mcpServer/elicitation/request"

// McpServerElicitationRequestParams asks the user a question of an MCP server. The approval of a
// tool call is a form without properties; Meta has the name of the tool.
type McpServerElicitationRequestParams struct {
	ThreadID string `json:"threadId"`
	// TurnID is null if no turn is active.
	TurnID     *string `json:"turnId"`
	ServerName string  `json:"serverName"`
	// Mode is form to request values by RequestedSchema, or url to request a visit of URL.
	Mode            string          `json:"mode" oneof:"form url"`
	Meta            json.RawMessage `json:"_meta"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	URL             string          `json:"url,omitempty"`
	ElicitationID   string          `json:"elicitationId,omitempty"`
}

// McpServerElicitationRequestResponse is the user's answer.
type McpServerElicitationRequestResponse struct {
	Action string `json:"action" oneof:"accept decline cancel"`
	// Content has the values of an accepted form. It is absent otherwise.
	Content json.RawMessage `json:"content,omitempty"`
	// Meta is {"persist": "session"} to accept the tool for the session.
	Meta json.RawMessage `json:"_meta,omitempty"`
}

// The words of McpServerElicitationRequestResponse.Action.
const (
	ElicitAccept  = "accept"
	ElicitDecline = "decline"
	ElicitCancel  = "cancel"
)
