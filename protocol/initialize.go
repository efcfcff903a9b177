package protocol

// InitializeParams opens a connection. It must be the first request.
type InitializeParams struct {
	ClientInfo   ClientInfo              `json:"clientInfo"`
	Capabilities *InitializeCapabilities `json:"capabilities,omitempty"`
}

// ClientInfo identifies the client.
type ClientInfo struct {
	// Name is for programs.
	Name string `json:"name"`
	// Title is for people.
	Title   *string `json:"title,omitempty"`
	Version string  `json:"version"`
}

// InitializeCapabilities has the optional features that the client supports.
type InitializeCapabilities struct {
	// ExperimentalAPI permits experimental methods and experimental members of params.
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

// InitializeResponse identifies the server and its system.
type InitializeResponse struct {
	UserAgent string `json:"userAgent"`
	// CodexHome is the directory of the server, an absolute path.
	CodexHome string `json:"codexHome"`
	// PlatformFamily is "unix" or "windows".
	PlatformFamily string `json:"platformFamily"`
	// PlatformOs is the operating system: "linux", "darwin" or "windows".
	PlatformOs string `json:"platformOs"`
}

// Empty is the result {} of methods without a result.
type Empty struct{}
