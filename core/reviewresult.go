package core

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

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

// reviewResult is what a reviewer found, in the form of the reference implementation.
type reviewResult struct {
	Findings    []finding `json:"findings"`
	Correctness string    `json:"overall_correctness"`
	Explanation string    `json:"overall_explanation"`
	Confidence  float64   `json:"overall_confidence_score"`
}

type finding struct {
	Title      string   `json:"title"`
	Body       string   `json:"body"`
	Confidence float64  `json:"confidence_score"`
	Priority   int      `json:"priority"`
	Location   location `json:"code_location"`
}

type location struct {
	Path  string    `json:"absolute_file_path"`
	Lines lineRange `json:"line_range"`
}

type lineRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// readReview takes the JSON in an answer. An answer without any is the explanation.
func readReview(answer string) *reviewResult {
	first, last := strings.Index(answer, "{"), strings.LastIndex(answer, "}")
	for _, text := range []string{answer, answer[max(first, 0):max(last+1, first, 0)]} {
		r := &reviewResult{}
		if protocol.Unmarshal([]byte(text), r) == nil {
			r.Findings = orEmpty(r.Findings)
			return r
		}
	}
	return &reviewResult{Findings: []finding{}, Explanation: strings.TrimSpace(answer)}
}

// text is the result for people, "" where there is none.
func (r *reviewResult) text() string {
	var parts []string
	if e := strings.TrimSpace(r.Explanation); e != "" {
		parts = append(parts, e)
	}
	switch len(r.Findings) {
	case 0:
	case 1:
		parts = append(parts, "Review comment:")
	default:
		parts = append(parts, "Full review comments:")
	}
	for _, f := range r.Findings {
		parts = append(parts, f.text())
	}
	return strings.Join(parts, "\n\n")
}

func (f *finding) text() string {
	head := fmt.Sprintf("- %s — %s:%d-%d", f.Title, f.Location.Path, f.Location.Lines.Start, f.Location.Lines.End)
	return head + "\n  " + strings.ReplaceAll(f.Body, "\n", "\n  ")
}

// storedEntered and storedExited are what the rollout keeps of the begin and the end.
type storedEntered struct {
	Type   string                `json:"type"`
	ID     string                `json:"id"`
	Target protocol.ReviewTarget `json:"target"`
	Hint   string                `json:"user_facing_hint"`
}

type storedExited struct {
	Type   string        `json:"type"`
	ID     string        `json:"id"`
	Output *reviewResult `json:"review_output"`
}

// loadExited takes what it can read of a result that another program wrote.
func loadExited(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedExited
	text := ""
	if protocol.Unmarshal(raw, &s) == nil && s.Output != nil {
		text = s.Output.text()
	}
	return &protocol.ExitedReviewModeItem{ID: peek(raw, "id"), Review: cmp.Or(text, noReview)}
}
