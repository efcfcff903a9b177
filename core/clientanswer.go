package core

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

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
	if c.server != nil {
		s.serverApproval(c, in)
		return
	}
	if c.client != nil {
		s.clientAnswered(c, in)
		return
	}
	word, remark := c.decision(in)
	if remark != "" {
		s.warn([]string{remark})
	}
	switch word {
	case protocol.DecisionAcceptForSession:
		for _, key := range s.approvalKeys(c) {
			s.rememberApproval(key)
		}
		s.acceptCall(c)
	case protocol.DecisionAccept:
		s.acceptCall(c)
	case protocol.DecisionCancel:
		s.declineCall(c, c.declinedText()+" and stopped the turn.")
		s.notifyStatus()
		s.interrupt()
	default:
		s.declineCall(c, c.declinedText()+". "+c.notDoneText())
		s.notifyStatus()
		s.advance()
	}
}

// clientAnswered applies the answer and advances the turn.
func (s *step) clientAnswered(c *toolCall, in ClientAnswer) {
	if c.client.questions != nil {
		s.userAnswered(c, in)
		s.notifyStatus()
	} else {
		s.clientToolAnswered(c, in)
	}
	s.advance()
}

// clientToolAnswered completes a call with the client's result. An invalid result counts as failure
// of the tool.
func (s *step) clientToolAnswered(c *toolCall, in ClientAnswer) {
	var answer protocol.DynamicToolCallResponse
	problem := ""
	if in.Err != nil {
		problem = fmt.Sprintf("The client could not run %s: %v", c.client.tool, in.Err)
	} else if err := protocol.DecodeParams(in.Result, &answer); err != nil {
		problem = fmt.Sprintf("The client's answer for %s is invalid: %v", c.client.tool, err)
	}
	if problem != "" {
		s.warn([]string{problem})
		answer = protocol.DynamicToolCallResponse{
			ContentItems: []protocol.DynamicToolContent{{DynamicToolContentVariant: &protocol.DynamicToolText{Text: problem}}},
		}
	}
	s.endClientTool(c, answer)
	s.completeCallWith(c, toolspec.ClientOutput(answer.ContentItems))
}

// userAnswered completes a call with the answers to its questions. An invalid answer counts as no
// answers, and the client gets a warning.
func (s *step) userAnswered(c *toolCall, in ClientAnswer) {
	answers := map[string]protocol.ToolRequestUserInputAnswer{}
	given, err := readAnswers(in)
	if err != nil {
		s.warn([]string{fmt.Sprintf("The answer to the questions of %s is ignored: %v", c.call.ID, err)})
	}
	for _, q := range c.client.questions {
		if a, ok := given[q.ID]; ok {
			answers[q.ID] = protocol.ToolRequestUserInputAnswer{Answers: append([]string{}, a.Answers...)}
		}
	}
	text, err := protocol.Marshal(protocol.ToolRequestUserInputResponse{Answers: answers})
	if err != nil {
		text = []byte(`{"answers":{}}`)
	}
	s.completeCall(c, string(text))
}

func readAnswers(in ClientAnswer) (map[string]protocol.ToolRequestUserInputAnswer, error) {
	if in.Err != nil {
		return nil, fmt.Errorf("it is an error response, %w", in.Err)
	}
	return toolspec.ParseAnswers(in.Result)
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

// serverApproval applies the decision on a call of a server's tool.
func (s *step) serverApproval(c *toolCall, in ClientAnswer) {
	answer, remark := elicitation(in)
	if remark != "" {
		s.warn([]string{remark})
	}
	if answer.Action == protocol.ElicitAccept {
		switch gjson.GetBytes(answer.Meta, "persist").Str {
		case "always":
			s.warn([]string{"Rules for tools are not supported: " + c.call.Name + " is accepted for this session. " +
				"To accept it always, set its approval_mode to \"approve\" in config.toml."})
			s.rememberApproval(c.server.tool.Key())
		case "session":
			s.rememberApproval(c.server.tool.Key())
		}
		s.acceptCall(c)
		return
	}
	verb := map[string]string{protocol.ElicitDecline: "rejected", protocol.ElicitCancel: "cancelled"}[answer.Action]
	s.declineCall(c, "user "+verb+" MCP tool call")
	s.notifyStatus()
	s.advance()
}
