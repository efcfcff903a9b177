package core

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// ServerQuestionWithdrawn withdraws a question.
type ServerQuestionWithdrawn struct{ Question uint64 }

// AnswerServer answers a question of a server.
type AnswerServer struct {
	Question uint64
	Answer   protocol.McpServerElicitationRequestResponse
}

// ServerQuestion is a question of an MCP server to the user.
type ServerQuestion struct {
	// Question identifies the question. It is unique among all servers.
	Question uint64
	Server   string
	// Mode is form or url. Schema belongs to form; URL and ElicitationID belong to url.
	Mode, Message      string
	Schema, Meta       json.RawMessage
	URL, ElicitationID string
}

func (in ServerQuestion) apply(s *step)          { s.serverQuestionAsked(in) }
func (in ServerQuestionWithdrawn) apply(s *step) { s.serverQuestionWithdrawn(in) }
func (AnswerServer) effect()                     {}

// serverQuestionAsked sends a question to the clients, or declines it if the approval policy
// permits no questions.
func (s *step) serverQuestionAsked(in ServerQuestion) {
	if !toolspec.Elicits(s.state.Settings.ApprovalPolicy) || s.isEnding() {
		s.answerServer(in.Question, protocol.ElicitDecline)
		return
	}
	q := &openQuestion{ServerQuestion: in, request: s.NextRequest(), askedAt: s.Now}
	if !s.isIdle() {
		q.turnID = &s.active.id
	}
	s.questions = append(s.questions, q)
	s.notifyWaiting()
	s.send(s.questionRequest(q))
}

// notifyWaiting sends the status of an active turn, which open questions change.
func (s *step) notifyWaiting() {
	if !s.isIdle() {
		s.notifyStatus()
	}
}

func (t *Thread) questionRequest(q *openQuestion) Request {
	return Request{ID: q.request, Method: protocol.MethodElicitation, Params: protocol.McpServerElicitationRequestParams{
		ThreadID: t.state.ID, TurnID: q.turnID, ServerName: q.Server, Mode: q.Mode, Meta: q.Meta, Message: q.Message,
		RequestedSchema: q.Schema, URL: q.URL, ElicitationID: q.ElicitationID,
	}}
}

// elicitation decodes an answer. It returns a warning for the client, or "".
func elicitation(in ClientAnswer) (answer protocol.McpServerElicitationRequestResponse, remark string) {
	err := in.Err
	if err == nil {
		err = protocol.Unmarshal(in.Result, &answer)
	}
	known := slices.Contains([]string{protocol.ElicitAccept, protocol.ElicitDecline, protocol.ElicitCancel}, answer.Action)
	if err == nil && known && isObjectOrNull(answer.Content) && isObjectOrNull(answer.Meta) {
		return answer, ""
	}
	return protocol.McpServerElicitationRequestResponse{Action: protocol.ElicitDecline},
		"The answer to the request of an MCP server counts as decline: answer with the action accept, decline or cancel, " +
			"and with an object, or null, for content and _meta."
}

// isObjectOrNull reports whether a member is an object, null or absent.
func isObjectOrNull(raw json.RawMessage) bool {
	in := gjson.ParseBytes(raw)
	return in.IsObject() || in.Type == gjson.Null
}

// closeQuestion removes a question and notifies that it needs no answer.
func (s *step) closeQuestion(i int) *openQuestion {
	q := s.questions[i]
	s.questions = slices.Delete(s.questions, i, i+1)
	s.notify(protocol.ServerRequestResolvedNotification{ThreadID: s.state.ID, RequestID: q.request})
	s.notifyWaiting()
	return q
}

func (s *step) serverQuestionWithdrawn(in ServerQuestionWithdrawn) {
	if i := slices.IndexFunc(s.questions, func(q *openQuestion) bool { return q.Question == in.Question }); i >= 0 {
		s.closeQuestion(i)
	}
}

// cancelQuestions cancels all questions after an interrupt.
func (s *step) cancelQuestions() {
	for len(s.questions) > 0 {
		s.answerServer(s.closeQuestion(0).Question, protocol.ElicitCancel)
	}
}

func (s *step) answerServer(question uint64, action string) {
	s.effect(AnswerServer{question, protocol.McpServerElicitationRequestResponse{Action: action}})
}
