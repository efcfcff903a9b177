package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"appserver/protocol"
)

// ClientAnswer is the client's response to a request of the server. Err is set if the response is
// an error.
type ClientAnswer struct {
	Request uint64
	Result  json.RawMessage
	Err     error
}

func (in ClientAnswer) apply(s *step) { s.clientAnswer(in) }

// clientAnswer applies the answer to a request of the server. The decision covers only what the
// request showed. An invalid answer counts as decline, and the client gets a warning.
func (s *step) clientAnswer(in ClientAnswer) {
	c := s.pendingCall(in.Request)
	if c == nil {
		s.questionAnswered(in)
		return
	}
	s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: c.request})
	c.asks.answer(s, c, in)
}

// decision returns the decision of an answer, and a warning for the client, or "". The answer can add a rule if the
// call is of a command.
func decision(c *toolCall, in ClientAnswer, command bool) (word, remark string) {
	var answer protocol.CommandExecutionRequestApprovalResponse
	err := in.Err
	if err != nil {
		err = fmt.Errorf("it is an error response, %w", err)
	} else {
		err = protocol.Unmarshal(in.Result, &answer)
	}
	word = answer.Decision.Word
	switch {
	case err == nil && word == "":
		err = errors.New("decision is missing")
	case err == nil && word == protocol.DecisionAcceptWithAmendment && !command:
		err = errors.New("acceptWithExecpolicyAmendment is for commands, not for patches")
	}
	switch {
	case err != nil:
		return protocol.DecisionDecline, fmt.Sprintf("The answer to the approval request for %s counts as decline: %v. "+
			"Answer with the decision accept, acceptForSession, decline or cancel.", c.call.ID, err)
	case word == protocol.DecisionAcceptWithAmendment:
		return protocol.DecisionAcceptForSession, fmt.Sprintf(
			"Rules for commands are not supported: %s is accepted for this session, for exactly this command.", c.call.ID)
	}
	return word, ""
}

// decidedKind is a kind whose requests have the decisions accept, acceptForSession, decline and cancel.
type decidedKind interface {
	approvedKind
	// approvalKeys returns the keys that acceptForSession adds.
	approvalKeys(s *step) []string
	// declinedText begins the output of a declined call. notDoneText ends it.
	declinedText() string
	notDoneText() string
}

// decide applies a decision, and sends the remark as a warning.
func (s *step) decide(c *toolCall, k decidedKind, word, remark string) {
	if remark != "" {
		s.warn([]string{remark})
	}
	switch word {
	case protocol.DecisionAcceptForSession:
		for _, key := range k.approvalKeys(s) {
			s.rememberApproval(key)
		}
		s.acceptCall(c, k)
	case protocol.DecisionAccept:
		s.acceptCall(c, k)
	case protocol.DecisionCancel:
		k.decline(s, c, k.declinedText()+" and stopped the turn.")
		s.notifyStatus()
		s.interrupt()
	default:
		k.decline(s, c, k.declinedText()+". "+k.notDoneText())
		s.notifyStatus()
		s.advance()
	}
}

// questionAnswered passes the client's answer to the server.
func (s *step) questionAnswered(in ClientAnswer) {
	i := slices.IndexFunc(s.questions, func(q *openQuestion) bool { return q.request == in.Request })
	if i < 0 {
		return
	}
	q := s.closeQuestion(i)
	answer, remark := elicitation(in)
	if remark != "" {
		s.warn([]string{remark})
	}
	s.effect(AnswerServer{q.Question, answer})
}
