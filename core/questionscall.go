package core

import (
	"fmt"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

func questionsTool() builtInTool {
	return builtInTool{
		name:    toolspec.RequestUserInput,
		spec:    func(*Thread) ToolSpec { return toolspec.QuestionsSpec },
		offered: func(t *Thread) bool { return !t.capabilities.Limits.NoQuestions },
		accepts: func(s *step, c *toolCall) bool {
			return s.canAskUser(c) || s.offersTool(toolspec.RequestUserInput)
		},
		decode: decodeQuestions, asks: true, early: true,
	}
}

// canAskUser reports whether a call may ask the user. Questions that were sent before a restart are sent again.
func (s *step) canAskUser(c *toolCall) bool { return c.again != nil || s.asksUser() }

// noQuestionsText is the output of request_user_input outside of plan mode.
const noQuestionsText = "The user was not asked: request_user_input is available in plan mode only. " +
	"Decide yourself, or ask in your answer."

// questionsCall is a call of request_user_input.
type questionsCall struct {
	questions []protocol.ToolRequestUserInputQuestion
}

func decodeQuestions(s *step, c *toolCall) (callKind, error) {
	if !s.canAskUser(c) {
		return &textCall{text: noQuestionsText}, nil
	}
	questions, err := toolspec.ParseQuestions(c.call.Arguments)
	return &questionsCall{questions}, err
}

func (k *questionsCall) readsOnly(*step) bool { return false }

// start sends the model's questions to the clients.
func (k *questionsCall) start(s *step, c *toolCall) {
	s.beginAsking(c, k)
	s.notifyStatus()
	s.send(k.request(s.Thread, c))
}

func (k *questionsCall) request(t *Thread, c *toolCall) Request {
	return Request{ID: c.request, Method: protocol.MethodUserInput, Params: protocol.ToolRequestUserInputParams{
		ThreadID: t.state.ID, TurnID: t.active.id, ItemID: c.call.ID, Questions: k.questions,
		IsBlocking: t.state.Settings.Mode == protocol.ModePlan,
	}}
}

func (k *questionsCall) waitFlag() string { return protocol.FlagWaitingOnUserInput }

func (k *questionsCall) abort(s *step, c *toolCall) { s.completeCall(c, abortedOutputText) }

// answer completes the call with the answers to its questions. An invalid answer counts as no
// answers, and the client gets a warning.
func (k *questionsCall) answer(s *step, c *toolCall, in ClientAnswer) {
	answers := map[string]protocol.ToolRequestUserInputAnswer{}
	given, err := readAnswers(in)
	if err != nil {
		s.warn([]string{fmt.Sprintf("The answer to the questions of %s is ignored: %v", c.call.ID, err)})
	}
	for _, q := range k.questions {
		if a, ok := given[q.ID]; ok {
			answers[q.ID] = protocol.ToolRequestUserInputAnswer{Answers: append([]string{}, a.Answers...)}
		}
	}
	text, err := protocol.Marshal(protocol.ToolRequestUserInputResponse{Answers: answers})
	if err != nil {
		text = []byte(`{"answers":{}}`)
	}
	s.completeCall(c, string(text))
	s.notifyStatus()
	s.advance()
}

func readAnswers(in ClientAnswer) (map[string]protocol.ToolRequestUserInputAnswer, error) {
	if in.Err != nil {
		return nil, fmt.Errorf("it is an error response, %w", in.Err)
	}
	return toolspec.ParseAnswers(in.Result)
}
