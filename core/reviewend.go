package core

import (
	"strings"

	"appserver/core/pure/history"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// ReviewInstructions are the system prompt of reviews.
const ReviewInstructions = `You review a change that somebody else made to a code base. You do not change files.

What to report
- Report what the author would mend if they knew of it: faults of correctness, security, speed, lost data, broken contracts with callers, tests that cannot fail.
- Report only what this change brought in. What was there before is not your subject.
- Be able to show each finding: name the input, the state or the caller for which it goes wrong. Where you would have to guess at what the author meant, leave it out.
- Leave matters of taste out, and what a formatter or a compiler tells.
- Report all that meets this, and nothing at all if nothing does.

How
- Read the change with git, and read the code around it before you judge.
- One finding for each fault, at the shortest range of lines that shows it. The range must overlap the change.
- The body is one short paragraph: what goes wrong, when, and why it matters. Be matter-of-fact; neither blame nor praise.
- Begin each title with its priority: [P0] stops everything, [P1] mend next, [P2] mend some day, [P3] nice to have.

When you are done, answer with one JSON object, without any text around it:
{"findings": [{"title": "[P1] at most 80 characters", "body": "Markdown", "confidence_score": 0.0 to 1.0, "priority": 0 to 3,
"code_location": {"absolute_file_path": "...", "line_range": {"start": 1, "end": 2}}}],
"overall_correctness": "patch is correct" or "patch is incorrect", "overall_explanation": "one to three sentences", "overall_confidence_score": 0.0 to 1.0}`

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

// reviewLostText returns the text for a review without a result.
func reviewLostText() string {
	return userAction("The user started a review of the changes. It ended without a result. "+
		"If the user asks for the result, tell them to start the review again.", "  None.")
}

// reviewResultText formats the result for the model of the thread.
func reviewResultText(result string) string {
	return userAction("The user had the changes reviewed. This is the reviewer's whole result. "+
		"The user may ask to fix some of the findings.", result)
}

func shortSHA(sha string) string {
	letters := []rune(sha)
	return string(letters[:min(7, len(letters))])
}

func userAction(context, results string) string {
	return "<user_action>\n  <context>" + context + "</context>\n" +
		"  <action>review</action>\n  <results>\n" + results + "\n  </results>\n</user_action>"
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

// endReview adds the result to the thread and shows it.
func (s *step) endReview() {
	r := s.reviewing()
	if r == nil {
		return
	}
	r.done = true
	result := transcript.ParseReview(r.answer)
	heard, shown := reviewResultText(result.Text()), result.Text()
	if shown == "" || s.isEnding() {
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

// reviewRequest returns the next request of a review: with instructions of its own, and the shell
// as its only tool.
func (s *step) reviewRequest(r *review) *Prompt {
	p := s.Thread.request()
	p.Instructions, p.Tools, p.WebSearch, p.OutputSchema = ReviewInstructions, toolspec.ReviewSpecs(), nil, nil
	p.Items = append([]protocol.ResponseItem(nil), r.items...)
	return p
}
