package protocol

import "encoding/json"

// CommandExecutionRequestApprovalParams asks the client whether a command may
// run. It follows the item/started of its item.
type CommandExecutionRequestApprovalParams struct {
	Kind                        string            `json:"kind"`
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

// ApprovalDecision is a word, or an object whose only member is the word. Detail
// is that member's value.
type ApprovalDecision struct {
	Word   string
	Detail json.RawMessage
}

// The words of an ApprovalDecision.
const (
	DecisionAccept              = "accept"
	DecisionAcceptForSession    = "acceptForSession"
	DecisionAcceptWithAmendment = "acceptWithExecpolicyAmendment"
	DecisionDecline             = "decline"
	DecisionCancel              = "cancel"
)

var decisions = []string{DecisionAccept, DecisionAcceptForSession, DecisionAcceptWithAmendment, DecisionDecline, DecisionCancel}

// MarshalJSON writes the word, or the object.
func (d ApprovalDecision) MarshalJSON() ([]byte, error) {
	if d.Detail != nil {
		return marshal(map[string]json.RawMessage{d.Word: d.Detail})
	}
	return marshal(d.Word)
}

// UnmarshalJSON accepts the known decisions.
func (d *ApprovalDecision) UnmarshalJSON(b []byte) error {
	var obj map[string]json.RawMessage
	if json.Unmarshal(b, &obj) == nil && len(obj) == 1 {
		for word, detail := range obj {
			*d = ApprovalDecision{Word: word, Detail: detail}
		}
		b, _ = marshal(d.Word)
	}
	word, err := decodeEnum(b, decisions)
	if err != nil {
		return err
	}
	d.Word = word
	return nil
}
