package core

import (
	"fmt"

	"appserver/core/toolspec"
	"appserver/protocol"
)

// askQuestions sends the model's questions to the clients.
func (s *step) askQuestions(c *toolCall) {
	questions, err := toolspec.ParseQuestions(c.call.Arguments)
	if err != nil {
		s.rejectArguments(c, err)
		return
	}
	c.client = &clientCall{questions: questions}
	c.state, c.request = callAsking, s.NextRequest()
	s.notifyStatus()
	s.send(s.requestFor(c))
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
