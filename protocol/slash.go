package protocol

// SlashCommand is what a person can type instead of a message: Name without the slash,
// Usage with it and with its arguments. Unless it is available during a turn it is refused
// while one is under way, with kind turnActive.
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

// SlashCommandParseResponse is the slash command that a text is, null where it is none.
type SlashCommandParseResponse *SlashCommandCall

// SlashCommandExecuteParams executes the slash command that Text is.
type SlashCommandExecuteParams struct {
	ThreadID string `json:"threadId"`
	Text     string `json:"text"`
}

// SlashCommandExecuteResponse tells what was executed. Result is that of the method which
// the command stands for.
type SlashCommandExecuteResponse struct {
	SlashCommandCall
	Result any `json:"result"`
}

// The values of InitializeCapabilities.SlashCommands.
const (
	SlashRefuse  = "refuse"
	SlashExecute = "execute"
)
