package protocol

import "encoding/json"

// Turn is one input of the user and all work on it, until the agent stops. Times are in Unix
// seconds or null if unknown.
type Turn struct {
	ID string `json:"id"`
	// RootTurnID is the first turn of a chain of turns: the turn itself, unless turn/start set
	// another one.
	RootTurnID *string      `json:"rootTurnId"`
	Items      []ThreadItem `json:"items"`
	// ItemsView is notLoaded if Items is empty, summary if it has the main messages, and full if it
	// has all.
	ItemsView string     `json:"itemsView" oneof:"notLoaded summary full"`
	Status    TurnStatus `json:"status"`
	// Error is null unless the turn failed.
	Error       *TurnError `json:"error"`
	StartedAt   *int64     `json:"startedAt"`
	CompletedAt *int64     `json:"completedAt"`
	// DurationMs is in milliseconds, or null if unknown.
	DurationMs *int64 `json:"durationMs"`
}

// The values of Turn.ItemsView: Items is empty, the agent's last message, or all.
const (
	ItemsNotLoaded = "notLoaded"
	ItemsSummary   = "summary"
	ItemsFull      = "full"
)

// TurnStatus is the state of a turn.
type TurnStatus string

// The states of a turn.
const (
	TurnCompleted   TurnStatus = "completed"
	TurnInterrupted TurnStatus = "interrupted"
	TurnFailed      TurnStatus = "failed"
	TurnInProgress  TurnStatus = "inProgress"
)

// TurnError is the reason for which a turn failed, or a request is retried.
type TurnError struct {
	// Message is for people.
	Message string `json:"message"`
	// CodexErrorInfo is for programs.
	CodexErrorInfo *CodexErrorInfo `json:"codexErrorInfo"`
	// AdditionalDetails is the response of the provider, or null.
	AdditionalDetails *string `json:"additionalDetails"`
	// Misalignment is always null.
	Misalignment json.RawMessage `json:"misalignment"`
}

// TurnStartParams starts a turn with the user's input, or adds the input to the active turn.
// Settings override those of the thread for this turn and later ones.
type TurnStartParams struct {
	ThreadID            string      `json:"threadId"`
	Input               []UserInput `json:"input"`
	ClientUserMessageID *string     `json:"clientUserMessageId,omitempty"`
	// RootTurnID is the turn on whose behalf this turn runs.
	RootTurnID        *string            `json:"rootTurnId,omitempty"`
	Cwd               *string            `json:"cwd,omitempty"`
	ApprovalPolicy    *AskForApproval    `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer *ApprovalsReviewer `json:"approvalsReviewer,omitempty"`
	SandboxPolicy     *SandboxPolicy     `json:"sandboxPolicy,omitempty"`
	// Permissions is the id of a profile of permissionProfile/list.
	Permissions *string `json:"permissions,omitempty"`
	Model       *string `json:"model,omitempty"`
	ServiceTier *string `json:"serviceTier,omitempty"`
	// Effort is the reasoning effort, in the provider's words.
	Effort  *string `json:"effort,omitempty"`
	Summary *string `json:"summary,omitempty" oneof:"auto concise detailed none"`
	// OutputSchema is a JSON Schema of the last message, for this turn only.
	OutputSchema      json.RawMessage    `json:"outputSchema,omitempty"`
	CollaborationMode *CollaborationMode `json:"collaborationMode,omitempty"`

	RuntimeWorkspaceRoots *[]string                `json:"runtimeWorkspaceRoots,omitempty"`
	Environments          *[]TurnEnvironmentParams `json:"environments,omitempty"`
	// MultiAgentMode is when the model starts other agents. It has an effect if the agents have paths.
	MultiAgentMode *MultiAgentMode `json:"multiAgentMode,omitempty"`
}

// TurnStartResponse has the new turn, or the active turn if the input joined it.
type TurnStartResponse struct {
	// Turn is, for a slash command, the turn that the command started, or the active one, or else
	// an empty completed turn that the thread does not store.
	Turn Turn `json:"turn"`
	// SlashCommand is set if the input was an executed slash command, for clients with that
	// capability.
	SlashCommand *SlashCommandExecuteResponse `json:"slashCommand,omitempty"`
}

// TurnSteerParams adds input to the active turn.
type TurnSteerParams struct {
	ThreadID string      `json:"threadId"`
	Input    []UserInput `json:"input"`
	// ExpectedTurnID must be the active turn.
	ExpectedTurnID      string  `json:"expectedTurnId"`
	ClientUserMessageID *string `json:"clientUserMessageId,omitempty"`
}

// TurnSteerResponse has the turn that got the input.
type TurnSteerResponse struct {
	TurnID string `json:"turnId"`
}

// TurnInterruptParams interrupts a turn.
type TurnInterruptParams struct {
	// ThreadID can be absent if TurnID is given.
	ThreadID string `json:"threadId,omitempty"`
	// TurnID is by default the active turn of the thread.
	TurnID string `json:"turnId,omitempty"`
}
