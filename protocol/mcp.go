package protocol

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// McpToolCallItem is a call of a tool of an MCP server. Arguments are the arguments from the model.
// Result and Error are null until the call has ended. A tool that reports its own failure has a Result
// and the status failed. DurationMs is in milliseconds. ReadOnlyHint is the server's hint, or null.
// The members of apps and plugins are always null.
type McpToolCallItem struct {
	ID           string             `json:"id"`
	Server       string             `json:"server"`
	Tool         string             `json:"tool"`
	Status       string             `json:"status" oneof:"inProgress completed failed"`
	Arguments    json.RawMessage    `json:"arguments"`
	AppContext   json.RawMessage    `json:"appContext"`
	McpAppUI     json.RawMessage    `json:"mcpAppUi"`
	PluginID     *string            `json:"pluginId"`
	ReadOnlyHint *bool              `json:"readOnlyHint"`
	Result       *McpToolCallResult `json:"result"`
	Error        *McpToolCallError  `json:"error"`
	DurationMs   *int64             `json:"durationMs"`
}

// The states of a call of a tool.
const (
	McpCallInProgress = "inProgress"
	McpCallCompleted  = "completed"
	McpCallFailed     = "failed"
)

// ItemID is the item's id.
func (i *McpToolCallItem) ItemID() string { return i.ID }

// McpToolCallResult is the result of a tool: content blocks of the Model Context Protocol, and the
// structured form, or null.
type McpToolCallResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent"`
	Meta              json.RawMessage   `json:"_meta"`
}

// McpToolCallError is why a call has no result.
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

// NotificationMethod is item/mcpToolCall/progress.
func (McpToolCallProgressNotification) NotificationMethod() string {
	return "item/mcpToolCall/progress"
}

// McpServerStatusUpdatedNotification reports the state of a thread's connection to an MCP server.
// Error is the reason of a failure. The failure reason is set if a login is no longer valid.
type McpServerStatusUpdatedNotification struct {
	ThreadID      *string `json:"threadId"`
	Name          string  `json:"name"`
	Status        string  `json:"status" oneof:"starting ready failed cancelled"`
	Error         *string `json:"error"`
	FailureReason *string `json:"failureReason" oneof:"reauthenticationRequired"`
}

// NotificationMethod is mcpServer/startupStatus/updated.
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

// ListMcpServerStatusParams asks for the MCP servers, by name. With a thread it is the
// connections of that thread that are looked at; without one each server is connected to
// for the answer. The detail toolsAndAuthOnly leaves the resources out.
type ListMcpServerStatusParams struct {
	Cursor     *string `json:"cursor,omitempty"`
	Limit      *uint32 `json:"limit,omitempty"`
	Detail     *string `json:"detail,omitempty" oneof:"full toolsAndAuthOnly"`
	ThreadID   *string `json:"threadId,omitempty"`
	ServerName *string `json:"serverName,omitempty"`
}

// ListMcpServerStatusResponse is a page of MCP servers.
type ListMcpServerStatusResponse struct {
	Data       []McpServerStatus `json:"data"`
	NextCursor *string           `json:"nextCursor"`
}

// McpServerStatus is the state of an MCP server, and its tools and resources as the Model Context
// Protocol has them. RuntimeStatus is null if the request named no thread. HTTPOrigin is the scheme
// and host of a server that is connected by HTTP. ToolsError is the reason if the tools are not known.
type McpServerStatus struct {
	Name               string                     `json:"name"`
	RuntimeStatus      *string                    `json:"runtimeStatus" oneof:"notStarted starting connected authenticationRequired failed cancelled disabled"`
	PluginID           *string                    `json:"pluginId"`
	HTTPOrigin         *string                    `json:"httpOrigin"`
	ServerInfo         *McpServerInfo             `json:"serverInfo"`
	ServerCapabilities json.RawMessage            `json:"serverCapabilities"`
	ToolListMeta       json.RawMessage            `json:"toolListMeta"`
	Tools              map[string]json.RawMessage `json:"tools"`
	ToolsError         *string                    `json:"toolsError"`
	Resources          []json.RawMessage          `json:"resources"`
	ResourceTemplates  []json.RawMessage          `json:"resourceTemplates"`
	AuthStatus         string                     `json:"authStatus" oneof:"unknown unsupported notLoggedIn bearerToken oAuth"`
}

// McpServerInfo has the names that a server reports for itself.
type McpServerInfo struct {
	Name        string            `json:"name"`
	Title       *string           `json:"title"`
	Version     string            `json:"version"`
	Description *string           `json:"description"`
	Icons       []json.RawMessage `json:"icons"`
	WebsiteURL  *string           `json:"websiteUrl"`
}

// McpServerToolCallParams calls a tool of a server that a thread is connected to.
// Nothing of it joins the conversation.
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

// McpResourceReadParams reads a resource of a server. Without a thread the server is
// connected to for the answer. Meta must be an object, and has no effect. ConnectorID and Target select a
// resource of an app, and are rejected.
type McpResourceReadParams struct {
	Meta         json.RawMessage `json:"_meta,omitempty"`
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

// McpResourceReadResponse is a resource; OriginCallID is always null.
type McpResourceReadResponse struct {
	Contents     []json.RawMessage `json:"contents"`
	OriginCallID *string           `json:"originCallId"`
}

// McpServerRefreshParams has no members. The reference implementation has this name for the response.
type McpServerRefreshParams struct{}

// MethodElicitation asks the user for what an MCP server wants to know, or whether a tool
// may be called.
const MethodElicitation = "mcpServer/elicitation/request"

// McpServerElicitationRequestParams asks the user a question of an MCP server. With the mode form it
// requests values by RequestedSchema, with the mode url it requests a visit of URL. TurnID is null if
// no turn is active. The approval of a tool call is a form without properties; Meta names the tool.
type McpServerElicitationRequestParams struct {
	ThreadID        string          `json:"threadId"`
	TurnID          *string         `json:"turnId"`
	ServerName      string          `json:"serverName"`
	Mode            string          `json:"mode" oneof:"form url"`
	Meta            json.RawMessage `json:"_meta"`
	Message         string          `json:"message"`
	RequestedSchema json.RawMessage `json:"requestedSchema,omitempty"`
	URL             string          `json:"url,omitempty"`
	ElicitationID   string          `json:"elicitationId,omitempty"`
}

// McpServerElicitationRequestResponse is the user's answer. Content has the values of an
// accepted form. Meta of {"persist": "session"} accepts the tool for the session.
type McpServerElicitationRequestResponse struct {
	Action  string          `json:"action" oneof:"accept decline cancel"`
	Content json.RawMessage `json:"content,omitempty"`
	Meta    json.RawMessage `json:"_meta,omitempty"`
}

// The words of McpServerElicitationRequestResponse.Action.
const (
	ElicitAccept  = "accept"
	ElicitDecline = "decline"
	ElicitCancel  = "cancel"
)
