package protocol

import (
	"encoding/json"
	"reflect"
)

// CommandExecutionRequestApprovalParams asks the client whether a command may run. The item/started
// notification of the item precedes it.
type CommandExecutionRequestApprovalParams struct {
	Kind     string `json:"kind" oneof:"command"`
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	// StartedAtMs is in Unix milliseconds.
	StartedAtMs int64 `json:"startedAtMs"`
	// EnvironmentID is always null.
	EnvironmentID *string `json:"environmentId"`
	// Reason is a text for the user, or null.
	Reason *string `json:"reason"`
	// Command is a command line in the syntax of a shell.
	Command string `json:"command"`
	// Cwd is the working directory, an absolute path.
	Cwd            string          `json:"cwd"`
	CommandActions []CommandAction `json:"commandActions"`
	// ProposedExecpolicyAmendment is always null.
	ProposedExecpolicyAmendment []string `json:"proposedExecpolicyAmendment"`
	// AvailableDecisions are the decisions to offer, as ApprovalDecision. The server accepts others
	// as well.
	AvailableDecisions []json.RawMessage `json:"availableDecisions"`
}

// CommandExecutionRequestApprovalResponse is the client's decision.
type CommandExecutionRequestApprovalResponse struct {
	Decision ApprovalDecision `json:"decision"`
}

// FileChangeRequestApprovalParams asks the client for permission to change the files of a
// fileChange item. The item/started notification of the item precedes it and has the changes.
type FileChangeRequestApprovalParams struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	// StartedAtMs is in Unix milliseconds.
	StartedAtMs int64 `json:"startedAtMs"`
	// Reason is a text for the user, or null.
	Reason *string `json:"reason"`
	// GrantRoot is a directory to which further writes are requested, or null.
	GrantRoot *string `json:"grantRoot"`
}

// FileChangeRequestApprovalResponse is the client's decision.
type FileChangeRequestApprovalResponse struct {
	// Decision is a word of ApprovalDecision. acceptForSession also allows later changes of these
	// files.
	Decision string `json:"decision" oneof:"accept acceptForSession decline cancel"`
}

// ApprovalDecision is "accept", "acceptForSession", "decline", "cancel", or
// {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": [<word of a command>]}}.
type ApprovalDecision struct {
	Word string
	// Detail is the value of acceptWithExecpolicyAmendment, nil for the other words.
	Detail json.RawMessage
}

// The words of an ApprovalDecision: run it; run it, and do not ask again for similar ones in this
// session; the same, by the rule of the amendment; do not run it; do not run it, and end the turn.
const (
	DecisionAccept              = "accept"
	DecisionAcceptForSession    = "acceptForSession"
	DecisionAcceptWithAmendment = "acceptWithExecpolicyAmendment"
	DecisionDecline             = "decline"
	DecisionCancel              = "cancel"
)

var decisions = []string{DecisionAccept, DecisionAcceptForSession, DecisionAcceptWithAmendment, DecisionDecline,
	DecisionCancel}

// MarshalJSON writes the word, or the object.
func (d ApprovalDecision) MarshalJSON() ([]byte, error) {
	if d.Detail != nil {
		return marshal(map[string]json.RawMessage{d.Word: d.Detail})
	}
	return marshal(d.Word)
}

// UnmarshalJSON accepts the known decisions. An amendment must be a list of words of a command.
func (d *ApprovalDecision) UnmarshalJSON(b []byte) error {
	word, detail, err := decodeWordOf(b, decisions, DecisionAcceptWithAmendment)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if word == DecisionAcceptWithAmendment {
		if err := decodeObject(detail, reflect.ValueOf(new(execpolicyAmendment)).Elem()); err != nil {
			return at(word, err)
		}
		raw = json.RawMessage(detail.Raw)
	}
	*d = ApprovalDecision{word, raw}
	return nil
}

type execpolicyAmendment struct {
	Words []string `json:"execpolicy_amendment"`
}
