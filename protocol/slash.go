package protocol

// SlashCommand is a command that a user can type instead of a message.
type SlashCommand struct {
	// Name has no slash.
	Name string `json:"name"`
	// Usage has the slash and the arguments.
	Usage       string `json:"usage"`
	Description string `json:"description"`
	// AvailableDuringTurn is false if the command is rejected while a turn is active, with kind
	// turnActive.
	AvailableDuringTurn bool `json:"availableDuringTurn"`
}

// SlashCommandCall is a typed slash command.
type SlashCommandCall struct {
	Command string `json:"command"`
	// Args are the words after the name.
	Args []string `json:"args"`
}

// SlashCommandListParams requests the slash commands.
type SlashCommandListParams struct{}

// SlashCommandListResponse lists the slash commands.
type SlashCommandListResponse []SlashCommand

// SlashCommandParseParams parses a text that can be a slash command.
type SlashCommandParseParams struct {
	Text string `json:"text"`
}

// SlashCommandParseResponse is the slash command of a text, or null.
type SlashCommandParseResponse *SlashCommandCall

// SlashCommandExecuteParams executes a slash command.
type SlashCommandExecuteParams struct {
	ThreadID string `json:"threadId"`
	// Text is the command as the user typed it.
	Text string `json:"text"`
}

// SlashCommandExecuteResponse has the executed command.
type SlashCommandExecuteResponse struct {
	SlashCommandCall
	// Result is the result of the command's method.
	Result any `json:"result"`
}

// The values of InitializeCapabilities.SlashCommands.
const (
	SlashRefuse  = "refuse"
	SlashExecute = "execute"
)
