package protocol

// InitializeParams opens a connection. It must be its first request.
type InitializeParams struct {
	ClientInfo   ClientInfo              `json:"clientInfo"`
	Capabilities *InitializeCapabilities `json:"capabilities,omitempty"`
}

// ClientInfo names the client: Name for programs, Title for people.
type ClientInfo struct {
	Name    string  `json:"name"`
	Title   *string `json:"title,omitempty"`
	Version string  `json:"version"`
}

// InitializeCapabilities has the optional features that the client supports.
type InitializeCapabilities struct {
	// ExperimentalAPI lets the client use experimental members of params.
	ExperimentalAPI bool `json:"experimentalApi,omitempty"`
	// OptOutNotificationMethods are notifications that are not sent to the client.
	OptOutNotificationMethods []string `json:"optOutNotificationMethods,omitempty"`
	// ContextItemsDelta makes ContextItems carry changes only, not the whole list.
	ContextItemsDelta bool `json:"contextItemsDelta,omitempty"`
	// SlashCommands selects the handling of a turn/start whose whole input is a slash command: refuse
	// rejects it with kind slashCommand, execute runs the command. Without it, the model receives the
	// text.
	SlashCommands *string `json:"slashCommands,omitempty" oneof:"refuse execute"`
}

// InitializeResponse identifies the server, its directory (an absolute path) and its system:
// platformFamily is "unix" or "windows", platformOs is "linux" and so on.
type InitializeResponse struct {
	UserAgent      string `json:"userAgent"`
	CodexHome      string `json:"codexHome"`
	PlatformFamily string `json:"platformFamily"`
	PlatformOs     string `json:"platformOs"`
}

// Empty is the answer {} of methods that answer nothing.
type Empty struct{}
