package protocol

// SlashCommand is a command that a user can type instead of a message. Name has no slash. Usage has
// the slash and the arguments. A command that is not available during a turn is rejected while one is
// active, with kind turnActive.
type SlashCommand struct {
	Name                string `json:"name"`
	Usage               string `json:"usage"`
	Description         string `json:"description"`
	AvailableDuringTurn bool   `json:"availableDuringTurn"`
}

// SlashCommandCall is a slash command as it was typed: its name, and the words behind it.
type SlashCommandCall struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// SlashCommandListParams asks which slash commands there are.
type SlashCommandListParams struct{}

// SlashCommandListResponse are the slash commands.
type SlashCommandListResponse []SlashCommand

// SlashCommandParseParams asks whether a text is a slash command.
type SlashCommandParseParams struct {
	Text string `json:"text"`
}

// SlashCommandParseResponse is the slash command of a text, or null.
type SlashCommandParseResponse *SlashCommandCall

// SlashCommandExecuteParams executes the slash command that Text is.
type SlashCommandExecuteParams struct {
	ThreadID string `json:"threadId"`
	Text     string `json:"text"`
}

// SlashCommandExecuteResponse has the executed command. Result is the result of its method.
type SlashCommandExecuteResponse struct {
	SlashCommandCall
	Result any `json:"result"`
}

// The values of InitializeCapabilities.SlashCommands.
const (
	SlashRefuse  = "refuse"
	SlashExecute = "execute"
)
