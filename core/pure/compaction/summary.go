package compaction

import (
	"strings"

	"appserver/core/pure/digest"
)

// SummaryPrompt instructs the model that summarises, unless the configuration has another prompt.
const SummaryPrompt = `You write the summary that replaces an earlier part of a conversation between a user and a coding agent. The agent continues with your summary alone: anything that is not in it is lost.

Write, in the language of the user, as plain text with short headings, in this order:
- goals: what the user wants in the end, and what of it is done;
- decisions: each with its reason, and with what was rejected;
- state of files: every file that was changed, by its path, with what is in it now; files that were read only if what is in them still matters;
- failed attempts: each command or approach that failed, with the cause of the failure as it was reported, and whether it was solved;
- next steps: open questions, and what to do next.

End with the heading "Rules of the user:" and below it a list, one entry a line that begins with "- ": every constraint of the user (must, never, do not, only, limits, preferences, names), word for word as the user wrote it, the oldest first. A constraint that the user took back stays, followed by the sentence that takes it back. Leave the list out if there are none.

Keep everything from an earlier summary that is still valid, its list of rules included. Name files, commands, identifiers and numbers exactly. Do not answer the conversation, and do not continue its work.`

const (
	// defaultTranscript bounds a transcript if the context window is not known, in tokens. minTranscript is
	// the least that a transcript may have.
	defaultTranscript = 100_000
	minTranscript     = 500
	// earlierLimit bounds the requests that a former summary covers, in bytes.
	earlierLimit = 16 << 10
)

// Transcript returns the span as text for a model that summarises. It fits a context window beside the
// instructions; a nil window is not known.
func (c *Context) Transcript(s *Span, instructions string, window *int64) string {
	room := int64(defaultTranscript)
	if window != nil {
		room = max(*window*8/10-c.Scaled(c.Count(instructions)), minTranscript)
	}
	limit := int(room) * 8 // most texts have fewer bytes in so many tokens
	for {
		text := s.transcript(limit)
		tokens := c.Scaled(c.Count(text))
		if tokens <= room || limit < 2 {
			return text
		}
		limit = min(len(text), limit) * int(room) / int(tokens) * 95 / 100
	}
}

// transcript returns the span as text of about limit bytes. The former summary has at most half of it, and the
// requests that it covers a quarter.
func (s *Span) transcript(limit int) string {
	head := ""
	if len(s.Earlier) > 0 {
		head = "# Requests that the summary below covers\n\n" +
			digest.Transcript(s.Earlier, min(earlierLimit, limit/4)) + "\n\n"
	}
	if s.Former != "" {
		head += "# Summary of the conversation before\n\n" + prefix(s.Former, limit/2) + "\n\n"
	}
	return head + "# Conversation\n\n" + digest.Transcript(s.Conversation, max(limit-len(head), 0))
}

// Accept returns the summary from a model's answer. cut is the reason why the answer is incomplete, or "". flaw
// is the reason why the answer cannot be used, or "".
func (r *Rules) Accept(s *Span, answer, cut string) (text, flaw string) {
	text = strings.TrimSpace(answer)
	switch {
	case cut != "":
		return "", "its summary is incomplete: " + cut
	case text == "":
		return "", "its summary is empty"
	}
	former, _ := splitRules(s.Former)
	return r.bounded(keepFormer(former, text)), ""
}

// keepFormer keeps a former summary before a new one that is much shorter.
func keepFormer(former, text string) string {
	if len(text)*4 >= len(former) || strings.Contains(text, former) {
		return text
	}
	return former + "\n\nSince then:\n\n" + text
}

// bounded removes the middle of a summary that is longer than twice its limit.
func (r *Rules) bounded(text string) string {
	limit := 2 * r.summaryLimit()
	if len(text) <= limit {
		return text
	}
	rest := strings.ToValidUTF8(text[len(text)-limit/2:], "")
	return prefix(text, limit/2) + "\n\n[… the summary was too long …]\n\n" + rest
}

// prefix returns the beginning of a text, at most limit bytes of it.
func prefix(text string, limit int) string {
	return strings.ToValidUTF8(text[:min(len(text), max(limit, 0))], "")
}
