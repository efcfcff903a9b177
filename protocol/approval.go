package protocol

import (
	"encoding/json"
	"reflect"
)

// CommandExecutionRequestApprovalParams asks the client whether a command may
// run. It follows the item/started of its item. StartedAtMs is in Unix milliseconds,
// Reason for the user to read, Command a line that a shell would take.
// AvailableDecisions are ApprovalDecisions to offer; others are taken too.
type CommandExecutionRequestApprovalParams struct {
	Kind                        string            `json:"kind" oneof:"command"`
	ThreadID                    string            `json:"threadId"`
	TurnID                      string            `json:"turnId"`
	ItemID                      string            `json:"itemId"`
	StartedAtMs                 int64             `json:"startedAtMs"`
	EnvironmentID               *string           `json:"environmentId"`
	Reason                      *string           `json:"reason"`
	Command                     string            `json:"command"`
	Cwd                         string            `json:"cwd"`
	CommandActions              []CommandAction   `json:"commandActions"`
	ProposedExecpolicyAmendment []string          `json:"proposedExecpolicyAmendment"`
	AvailableDecisions          []json.RawMessage `json:"availableDecisions"`
}

// CommandExecutionRequestApprovalResponse is the client's decision.
type CommandExecutionRequestApprovalResponse struct {
	Decision ApprovalDecision `json:"decision"`
}

// FileChangeRequestApprovalParams asks the client for permission to change the files of a fileChange
// item. It follows the item's item/started, which has the changes. StartedAtMs is in Unix
// milliseconds. GrantRoot is a directory to which further writes are requested.
type FileChangeRequestApprovalParams struct {
	ThreadID    string  `json:"threadId"`
	TurnID      string  `json:"turnId"`
	ItemID      string  `json:"itemId"`
	StartedAtMs int64   `json:"startedAtMs"`
	Reason      *string `json:"reason"`
	GrantRoot   *string `json:"grantRoot"`
}

// FileChangeRequestApprovalResponse is the client's decision, in the words of an
// ApprovalDecision. acceptForSession holds for these files.
type FileChangeRequestApprovalResponse struct {
	Decision string `json:"decision" oneof:"accept acceptForSession decline cancel"`
}

// ApprovalDecision is "accept", "acceptForSession", "decline", "cancel", or
// {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": [<word of a command>]}}.
type ApprovalDecision struct {
	Word string
	// Detail is the value of acceptWithExecpolicyAmendment, nil for the other words.
	Detail json.RawMessage
}

// The words of an ApprovalDecision: run it; run it, and do not ask again for its
// like in this session; the same, by the rule of the amendment; do not run it; do not
// run it, and end the turn.
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

// UnmarshalJSON accepts the known decisions. The amendment must be one: a list of
// the words of a command.
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
