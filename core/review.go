package core

import (
	"fmt"
	"strings"

	"appserver/core/history"
	"appserver/core/toolspec"
	"appserver/core/transcript"
	"appserver/protocol"
)

// ReviewStart begins a turn that reviews changes.
type ReviewStart struct {
	To     protocol.Caller
	Env    TurnEnv
	Target protocol.ReviewTarget
	// MergeBase is the last common commit of the current branch and the target branch, or "" if it
	// is not known.
	MergeBase string
}

func (in ReviewStart) apply(s *step) { s.reviewStart(in) }

// review is the conversation of a review. It is separate: the reviewer gets no items of the thread,
// and the thread gets only the result.
type review struct {
	target protocol.ReviewTarget
	items  []protocol.ResponseItem
	// answer is the reviewer's last message.
	answer string
	// done is set once the thread has the result.
	done bool
}

// reviewing returns the active review, or nil.
func (s *step) reviewing() *review {
	if s.active == nil || s.active.review == nil || s.active.review.done {
		return nil
	}
	return s.active.review
}

func (s *step) reviewStart(in ReviewStart) {
	if s.rejectInTurn(in.To) {
		return
	}
	r := &review{target: in.Target}
	s.newTurn(in.Env).review = r
	s.recordBegin(nil)
	s.changeSettings(s.state.Settings, s.active.id)
	s.replyToReview(in.To, reviewHint(in.Target))
	s.notifyStatus()
	s.notify(protocol.TurnStartedNotification{ThreadID: s.state.ID, Turn: s.activeTurnView()})
	s.enterReview(in.Target)
	for _, m := range s.allNotices(in.Env) {
		s.item(m)
	}
	s.addUserInput(plainInput(reviewPrompt(in.Target, in.MergeBase)), nil, nil, nil)
	s.beginCheckpoint()
	s.requestModel()
}

// replyToReview replies with the turn. The target is shown as a message of the user.
func (s *step) replyToReview(to protocol.Caller, hint string) {
	answer := s.activeTurnView()
	answer.StartedAt = nil
	answer.Items = []protocol.ThreadItem{userItem(answer.ID, hint)}
	s.reply(to, protocol.ReviewStartResponse{Turn: answer, ReviewThreadID: s.state.ID})
}

func (s *step) enterReview(target protocol.ReviewTarget) {
	v := &protocol.EnteredReviewModeItem{ID: s.NewID(), Review: reviewHint(target)}
	item := s.newItem(v, s.Now)
	s.notifyStarted(item)
	s.completeItemAs(s.active.id, item, transcript.EncodeEntered(v, target))
}

func (s *step) exitReview(shown string, result *transcript.ReviewResult) {
	v := &protocol.ExitedReviewModeItem{ID: s.NewID(), Review: shown}
	item := s.newItem(v, s.Now)
	s.notifyStarted(item)
	s.completeItemAs(s.active.id, item, transcript.EncodeExited(v.ID, result))
}

// reviewRequest returns the next request of a review: with instructions of its own, and the shell
// as its only tool.
func (s *step) reviewRequest(r *review) *Prompt {
	p := s.Thread.request()
	p.Instructions, p.Tools, p.WebSearch, p.OutputSchema = ReviewInstructions, toolspec.ReviewSpecs(), nil, nil
	p.Items = append([]protocol.ResponseItem(nil), r.items...)
	return p
}

// endReview adds the result to the thread and shows it.
func (s *step) endReview() {
	r := s.reviewing()
	if r == nil {
		return
	}
	r.done = true
	result := transcript.ParseReview(r.answer)
	heard, shown := reviewResultText(result.Text()), result.Text()
	if shown == "" || s.active.outcome != nil {
		result, heard, shown = nil, reviewLostText(), transcript.NoReview
	}
	s.item(history.UserMessage(heard))
	s.exitReview(shown, result)
	said := &protocol.AgentMessageItem{ID: "msg_" + s.NewID(), Text: shown}
	s.item(&protocol.Message{ID: said.ID, Role: protocol.RoleAssistant,
		Content: []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: shown}}})
	item := s.newItem(&protocol.AgentMessageItem{ID: said.ID}, s.Now)
	s.notifyStarted(item)
	s.notify(&protocol.AgentMessageDeltaNotification{ThreadID: s.state.ID, TurnID: s.active.id, ItemID: said.ID,
		Delta: shown})
	item.ThreadItemVariant = said
	s.completeItem(item, nil)
	s.event(protocol.TextEvent{Type: protocol.EventAgentMessage, Message: shown})
	s.active.last = item
}

// reviewHint describes the target in a few words.
func reviewHint(target protocol.ReviewTarget) string {
	switch v := target.ReviewTargetVariant.(type) {
	case *protocol.ReviewBranch:
		return "changes against '" + v.Branch + "'"
	case *protocol.ReviewCommit:
		hint := "commit " + shortSHA(v.Sha)
		if v.Title != nil && strings.TrimSpace(*v.Title) != "" {
			hint += ": " + *v.Title
		}
		return hint
	case *protocol.ReviewCustom:
		return strings.TrimSpace(v.Instructions)
	}
	return "current changes"
}

func shortSHA(sha string) string {
	letters := []rune(sha)
	return string(letters[:min(7, len(letters))])
}

// reviewPrompt returns the task of the reviewer.
func reviewPrompt(target protocol.ReviewTarget, mergeBase string) string {
	switch v := target.ReviewTargetVariant.(type) {
	case *protocol.ReviewBranch:
		return branchPrompt(v.Branch, mergeBase)
	case *protocol.ReviewCommit:
		text := fmt.Sprintf("Review the changes of commit %s", v.Sha)
		if v.Title != nil && strings.TrimSpace(*v.Title) != "" {
			text += fmt.Sprintf(" (%q)", *v.Title)
		}
		return fmt.Sprintf("%s. `git show %s` shows them.", text, v.Sha)
	case *protocol.ReviewCustom:
		return strings.TrimSpace(v.Instructions)
	}
	return "Review the changes in the working tree that are not committed: staged, unstaged and untracked. " +
		"`git status --porcelain`, `git diff` and `git diff --staged` show them. Read untracked files completely."
}

func branchPrompt(branch, mergeBase string) string {
	text := fmt.Sprintf("Review the changes of the current branch since it left the branch '%s'. ", branch)
	if mergeBase == "" {
		return text + fmt.Sprintf("Find the last common commit with `git merge-base HEAD '%s'`, or with the upstream of "+
			"that branch. Then read `git diff` from that commit.", branch)
	}
	return text + fmt.Sprintf("The last common commit is %s: `git diff %s` shows the changes.", mergeBase, mergeBase)
}

// CheckReview rejects a target with an empty member.
func CheckReview(target protocol.ReviewTarget) error {
	switch v := target.ReviewTargetVariant.(type) {
	case *protocol.ReviewBranch:
		return required("branch", v.Branch)
	case *protocol.ReviewCommit:
		return required("sha", v.Sha)
	case *protocol.ReviewCustom:
		return required("instructions", v.Instructions)
	}
	return nil
}

func required(member, value string) error {
	if strings.TrimSpace(value) != "" {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: member + " must not be empty",
		Data: &protocol.ErrorData{Kind: protocol.KindInvalidParams, Field: "target." + member}}
}

// reviewResultText formats the result for the model of the thread.
func reviewResultText(result string) string {
	return userAction("The user had the changes reviewed. This is the reviewer's whole result. "+
		"The user may ask to fix some of the findings.", result)
}

// reviewLostText returns the text for a review without a result.
func reviewLostText() string {
	return userAction("The user started a review of the changes. It ended without a result. "+
		"If the user asks for the result, tell them to start the review again.", "  None.")
}

func userAction(context, results string) string {
	return "<user_action>\n  <context>" + context + "</context>\n" +
		"  <action>review</action>\n  <results>\n" + results + "\n  </results>\n</user_action>"
}

func userItem(id, text string) protocol.ThreadItem {
	return protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{ID: id, Content: plainInput(text)}}
}

func plainInput(text string) []protocol.UserInput {
	return []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: text,
		TextElements: []protocol.TextElement{}}}}
}
