package core

import (
	"strings"
	"time"

	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func errEmptyInput() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeInvalidParams, Message: "input must not be empty while a turn runs",
		Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "input"}}
}

// TurnUnderWay returns the error for requests that need the turn to be over, or nil if no turn is
// active or resumable.
func (t *Thread) TurnUnderWay() *protocol.Error {
	turn, text := t.openTurn(), "turn %s is active: wait for its end, or interrupt it with turn/interrupt, and retry"
	switch {
	case turn == "":
		return nil
	case t.isIdle():
		text = "turn %s waits for an answer: resume the thread, answer the request or interrupt the turn, and retry"
	}
	err := protocol.Refuse(protocol.KindTurnActive, text, turn)
	err.Data.TurnID = turn
	return err
}

// rejectInTurn rejects a request that needs the turn to be over, and reports whether it did. A turn
// whose turn/completed is delayed is completed first.
func (s *step) rejectInTurn(to protocol.Caller) bool {
	s.completePendingTurn()
	err := s.TurnUnderWay()
	if err != nil {
		s.reject(to, err)
	}
	return err != nil
}

// newTurn begins a turn. It adds no line.
func (s *step) newTurn(kind turnKind, env TurnEnv) *turn {
	s.endDanglingTurn()
	s.discardDraft(errDraftExpired())
	s.failed = false
	s.applyEnv(env)
	t := &turn{id: s.NewID(), startedAt: s.Now, env: env, kind: kind}
	t.notBefore = s.Now.Add(s.options.CompletedFloor)
	s.becomePreparing(t)
	s.applyCutWindow()
	return t
}

func (s *step) recordBegin(root *string) {
	at := s.Now.Unix()
	s.event(protocol.TaskStarted{Type: protocol.EventTaskStarted, TurnID: s.active.id, RootTurnID: root, StartedAt: &at,
		ModelContextWindow: s.active.env.Provider.ContextWindow})
}

func errDraftExpired() *protocol.Error {
	return protocol.Refuse(protocol.KindDraftExpired,
		"the draft is not good any more: the context has changed since, or there is a newer draft; propose again with thread/compact/propose")
}

// discardDraft removes the draft, and rejects the request of a caller that waits for it.
func (s *step) discardDraft(err *protocol.Error) {
	if s.draft.waits() {
		s.effect(Cancel{s.draft.request})
		s.recordUnanswered(s.endSent(s.draft.request, "", nil), requestCancelled)
		s.reject(s.draft.to, err)
	}
	s.draft = nil
}

// activeTurnView returns the active turn as responses and turn/started show it.
func (s *step) activeTurnView() protocol.Turn { return s.transcript.Last().View() }

// addUserInput adds the user's input to the context and shows it.
func (s *step) addUserInput(
	input []protocol.UserInput,
	clientID *string,
	images map[string]LocalImage,
	skills []SkillText,
) {
	if len(input) == 0 {
		return
	}
	s.item(&protocol.Message{ID: "msg_" + s.NewID(), Role: protocol.RoleUser, Content: contentOf(input, images)})
	item := s.newItem(&protocol.UserMessageItem{ID: s.NewID(), ClientID: clientID, Content: input}, s.Now)
	s.notifyStarted(item)
	s.completeItem(item, nil)
	s.event(protocol.TextEvent{Type: protocol.EventUserMessage, Message: transcript.InputText(input), Kind: "plain"})
	s.addSkills(skills)
	s.out.Sync = true
}

// contentOf converts input to content for the model.
func contentOf(input []protocol.UserInput, images map[string]LocalImage) []protocol.ContentItem {
	content := []protocol.ContentItem{}
	text := func(t string) {
		content = append(content, protocol.ContentItem{Type: protocol.ContentInputText, Text: t})
	}
	image := func(url string, detail *string) {
		c := protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: url}
		protocol.Override(&c.Detail, detail)
		content = append(content, c)
	}
	for _, in := range input {
		switch v := in.UserInputVariant.(type) {
		case *protocol.TextInput:
			text(v.Text)
		case *protocol.ImageInput:
			part := toolspec.ImagePart(v.URL)
			if part.Type == protocol.ContentInputImage {
				protocol.Override(&part.Detail, v.Detail)
			}
			content = append(content, part)
		case *protocol.LocalImageInput:
			if file := images[v.Path]; file.Problem == "" {
				image(file.URL, v.Detail)
			} else {
				text("The image `" + v.Path + "` cannot be shown: " + file.Problem)
			}
		case *protocol.SkillInput:
			text("Use the skill " + v.Name + ": " + v.Path)
		case *protocol.MentionInput:
			text("The user mentions " + v.Name + ": " + v.Path)
		}
	}
	return content
}

// addSkills adds the skills that the user named, after the user's message.
func (s *step) addSkills(skills []SkillText) {
	for _, skill := range skills {
		s.item(history.UserMessage(SkillTag + "\n<name>" + skill.Name + "</name>\n<path>" + skill.Path + "</path>\n" +
			strings.TrimRight(skill.Text, "\n") + "\n</skill>"))
	}
}
