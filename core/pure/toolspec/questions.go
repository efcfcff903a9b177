package toolspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"appserver/protocol"
)

// RequestUserInput is the name of the tool that asks the user to choose.
const RequestUserInput = "request_user_input"

// QuestionsSpec describes the tool request_user_input.
var QuestionsSpec = Spec{
	Name: RequestUserInput,
	Description: "Asks the user one to three short questions with answers to choose from, and waits for the answers. " +
		"The user can always answer in other words, so do not offer an option for that. " +
		"It can be unavailable outside of plan mode.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"questions":{"type":"array","description":"One question if possible, at most three.",` +
		`"items":{"type":"object","properties":{` +
		`"id":{"type":"string","description":"The id of the question in the result, in snake_case."},` +
		`"header":{"type":"string","description":"The topic, in at most 12 characters."},` +
		`"question":{"type":"string","description":"One sentence."},` +
		`"options":{"type":"array",` +
		`"description":"Two or three answers that exclude each other. Put the one that you recommend first.",` +
		`"items":{"type":"object","properties":{"label":{"type":"string","description":"A few words."},` +
		`"description":{"type":"string","description":"The effect of this choice, in one sentence."}},` +
		`"required":["label","description"],"additionalProperties":false}}},` +
		`"required":["id","header","question","options"],"additionalProperties":false}}},` +
		`"required":["questions"],"additionalProperties":false}`),
}

// maxQuestions is the highest accepted number of questions in one call. The model is offered fewer.
const maxQuestions = 10

// ParseQuestions decodes the arguments of request_user_input. Each question accepts other words
// than its options.
func ParseQuestions(arguments string) ([]protocol.ToolRequestUserInputQuestion, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return nil, err
	}
	given := a.objects("questions")
	switch {
	case a.err != nil:
		return nil, a.err
	case len(given) == 0 || len(given) > maxQuestions:
		return nil, fmt.Errorf("expected one to three questions, got %d", len(given))
	}
	var questions []protocol.ToolRequestUserInputQuestion
	ids := map[string]bool{}
	for i, m := range given {
		q, err := readQuestion(m)
		if err != nil {
			return nil, err
		}
		switch {
		case q.ID == "" || ids[q.ID]:
			return nil, fmt.Errorf("question %d needs an id of its own", i+1)
		case q.Question == "":
			return nil, fmt.Errorf("question %d has no text", i+1)
		case len(q.Options) == 0:
			return nil, fmt.Errorf("%s requires non-empty options for every question", RequestUserInput)
		}
		ids[q.ID] = true
		questions = append(questions, q)
	}
	return questions, nil
}

func readQuestion(m *members) (protocol.ToolRequestUserInputQuestion, error) {
	q := protocol.ToolRequestUserInputQuestion{
		ID: m.id("id"), Header: m.text("header"), Question: m.text("question"), IsOther: true}
	for _, o := range m.objects("options") {
		q.Options = append(q.Options,
			protocol.ToolRequestUserInputOption{Label: o.text("label"), Description: o.text("description")})
		m.err = cmp.Or(m.err, o.err)
	}
	return q, m.err
}

// ParseAnswers decodes the client's result of a request for user input: the answers by the ids of
// the questions.
func ParseAnswers(result json.RawMessage) (map[string]protocol.ToolRequestUserInputAnswer, error) {
	var answer protocol.ToolRequestUserInputResponse
	switch {
	case protocol.Unmarshal(result, &answer) != nil:
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
