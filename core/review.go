package core

import (
	"fmt"
	"strings"

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

func (s *step) reviewStart(in ReviewStart) {
	if s.rejectInTurn(in.To) {
		return
	}
	r := &review{target: in.Target}
	s.newTurn(reviewTurn, in.Env).review = r
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

func userItem(id, text string) protocol.ThreadItem {
	return protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{ID: id, Content: plainInput(text)}}
}

func plainInput(text string) []protocol.UserInput {
	return []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: text,
		TextElements: []protocol.TextElement{}}}}
}
