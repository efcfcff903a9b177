package protocol

import "encoding/json"

// Turn is one user input and everything until the agent stops. Times are in Unix seconds, the duration
// in milliseconds; they are null if unknown. RootTurnID is the first turn of a chain of turns: the
// turn itself, unless turn/start named another. Error is set for a failed turn only.
type Turn struct {
	ID          string       `json:"id"`
	RootTurnID  *string      `json:"rootTurnId"`
	Items       []ThreadItem `json:"items"`
	ItemsView   string       `json:"itemsView" oneof:"notLoaded summary full"`
	Status      TurnStatus   `json:"status"`
	Error       *TurnError   `json:"error"`
	StartedAt   *int64       `json:"startedAt"`
	CompletedAt *int64       `json:"completedAt"`
	DurationMs  *int64       `json:"durationMs"`
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

// TurnError is the reason why a turn failed, or why a request is retried. Message is for people,
// CodexErrorInfo for programs. AdditionalDetails is the response of the provider. Misalignment is
// always null.
type TurnError struct {
	Message           string          `json:"message"`
	CodexErrorInfo    *CodexErrorInfo `json:"codexErrorInfo"`
	AdditionalDetails *string         `json:"additionalDetails"`
	Misalignment      json.RawMessage `json:"misalignment"`
}

// TurnStartParams gives the agent something to do. Overrides hold for this turn
// and those after it; OutputSchema, a JSON Schema of the last message, for this turn
// only. RootTurnID names the turn that this one is done for. Effort is a word that
// the provider knows.
type TurnStartParams struct {
	ThreadID            string             `json:"threadId"`
	Input               []UserInput        `json:"input"`
	ClientUserMessageID *string            `json:"clientUserMessageId,omitempty"`
	RootTurnID          *string            `json:"rootTurnId,omitempty"`
	Cwd                 *string            `json:"cwd,omitempty"`
	ApprovalPolicy      *AskForApproval    `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer   *ApprovalsReviewer `json:"approvalsReviewer,omitempty"`
	SandboxPolicy       *SandboxPolicy     `json:"sandboxPolicy,omitempty"`
	Permissions         *string            `json:"permissions,omitempty"`
	Model               *string            `json:"model,omitempty"`
	ServiceTier         *string            `json:"serviceTier,omitempty"`
	Effort              *string            `json:"effort,omitempty"`
	Summary             *string            `json:"summary,omitempty" oneof:"auto concise detailed none"`
	OutputSchema        json.RawMessage    `json:"outputSchema,omitempty"`
	CollaborationMode   *CollaborationMode `json:"collaborationMode,omitempty"`

	RuntimeWorkspaceRoots *[]string                `json:"runtimeWorkspaceRoots,omitempty"`
	Environments          *[]TurnEnvironmentParams `json:"environments,omitempty"`
}

// TurnStartResponse is the response to turn/start. If a turn is active, the input joined it, and Turn
// is that turn. SlashCommand is set if the input was an executed slash command, for clients with that
// capability. Turn is then the turn that the command began, or the active one, or else an empty
// completed turn that the thread does not store.
type TurnStartResponse struct {
	Turn         Turn                         `json:"turn"`
	SlashCommand *SlashCommandExecuteResponse `json:"slashCommand,omitempty"`
}

// TurnSteerParams adds input to the turn under way, which must be ExpectedTurnID.
type TurnSteerParams struct {
	ThreadID            string      `json:"threadId"`
	Input               []UserInput `json:"input"`
	ExpectedTurnID      string      `json:"expectedTurnId"`
	ClientUserMessageID *string     `json:"clientUserMessageId,omitempty"`
}

// TurnSteerResponse names the turn that took the input.
type TurnSteerResponse struct {
	TurnID string `json:"turnId"`
}

// TurnInterruptParams ends a turn. Without ThreadID the turn is found by its id;
// without TurnID the thread's active turn is meant.
type TurnInterruptParams struct {
	ThreadID string `json:"threadId,omitempty"`
	TurnID   string `json:"turnId,omitempty"`
}
