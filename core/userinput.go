package core

import (
	"encoding/json"
	"errors"
	"fmt"

	"appserver/protocol"
)

var askTool = ToolSpec{
	Name: "request_user_input",
	Description: "Puts one to three short questions to the user, each with a few answers to choose from, and waits for them. " +
		"The user can always answer in other words, so offer no choice for that.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"questions":{"type":"array","description":"One question if possible, three at most.",` +
		`"items":{"type":"object","properties":{` +
		`"id":{"type":"string","description":"Names the question in the answer, in snake_case."},` +
		`"header":{"type":"string","description":"What it is about, in 12 characters."},` +
		`"question":{"type":"string","description":"One sentence."},` +
		`"options":{"type":"array","description":"Two or three answers that exclude each other, the one that you recommend first.",` +
		`"items":{"type":"object","properties":{"label":{"type":"string","description":"A few words."},` +
		`"description":{"type":"string","description":"What it means to choose it, in a sentence."}},` +
		`"required":["label","description"],"additionalProperties":false}}},` +
		`"required":["id","header","question","options"],"additionalProperties":false}}},` +
		`"required":["questions"],"additionalProperties":false}`),
}

// maxQuestions is how many questions one call may put.
const maxQuestions = 10

// beginQuestions puts the model's questions to the user.
func (s *step) beginQuestions(c *toolCall) {
	questions, err := parseQuestions(c.call.Arguments)
	if err != nil {
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: %v", c.call.Name, err))
		return
	}
	c.client = &clientCall{questions: questions}
	c.state, c.request = callAsking, s.NextRequest()
	s.notifyStatus()
	s.send(s.request(c))
}

func parseQuestions(arguments string) ([]protocol.ToolRequestUserInputQuestion, error) {
	var a struct {
		Questions []protocol.ToolRequestUserInputQuestion `json:"questions"`
	}
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return nil, err
	}
	if len(a.Questions) == 0 || len(a.Questions) > maxQuestions {
		return nil, fmt.Errorf("expected one to three questions, got %d", len(a.Questions))
	}
	ids := map[string]bool{}
	for i := range a.Questions {
		q := &a.Questions[i]
		switch {
		case q.ID == "" || ids[q.ID]:
			return nil, fmt.Errorf("question %d needs an id of its own", i+1)
		case q.Question == "":
			return nil, fmt.Errorf("question %d has no text", i+1)
		case len(q.Options) == 0:
			return nil, fmt.Errorf("%s requires non-empty options for every question", askTool.Name)
		}
		ids[q.ID] = true
		q.IsOther, q.IsSecret = true, false
	}
	return a.Questions, nil
}

// userAnswered gives the model what the user chose, of the questions that were put. Where
// the answer makes no sense nothing was chosen, and the client is told why.
func (s *step) userAnswered(c *toolCall, in ClientAnswer) {
	answers := map[string]protocol.ToolRequestUserInputAnswer{}
	given, err := readAnswers(in)
	if err != nil {
		s.warn([]string{fmt.Sprintf("The answer to the questions of %s counts as none: %v", c.call.ID, err)})
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
	s.answer(c, string(text))
}

func readAnswers(in ClientAnswer) (map[string]protocol.ToolRequestUserInputAnswer, error) {
	var answer protocol.ToolRequestUserInputResponse
	switch {
	case in.Err != nil:
		return nil, fmt.Errorf("it is an error, %w", in.Err)
	case protocol.Unmarshal(in.Result, &answer) != nil:
		return nil, errors.New("expected {\"answers\": {ID: {\"answers\": [TEXT]}}}")
	case answer.Answers == nil:
		return nil, errors.New("answers is missing")
	}
	for id, a := range answer.Answers {
		if a.Answers == nil {
			return nil, fmt.Errorf("answers is missing for %q", id)
		}
	}
	return answer.Answers, nil
}
