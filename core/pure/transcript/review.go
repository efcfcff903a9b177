package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"appserver/protocol"
)

// NoReview is the text of a review that did not end.
const NoReview = "The review ended without a result."

// ReviewResult is the result of a review, in the form of the reference implementation.
type ReviewResult struct {
	Findings    []Finding `json:"findings"`
	Correctness string    `json:"overall_correctness"`
	Explanation string    `json:"overall_explanation"`
	Confidence  float64   `json:"overall_confidence_score"`
}

type Finding struct {
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

// ParseReview returns the JSON in an answer. An answer without JSON is the explanation.
func ParseReview(answer string) *ReviewResult {
	first, last := strings.Index(answer, "{"), strings.LastIndex(answer, "}")
	for _, text := range []string{answer, answer[max(first, 0):max(last+1, first, 0)]} {
		r := &ReviewResult{}
		if protocol.Unmarshal([]byte(text), r) == nil {
			r.Findings = orEmpty(r.Findings)
			return r
		}
	}
	return &ReviewResult{Findings: []Finding{}, Explanation: strings.TrimSpace(answer)}
}

// Text returns the result for people, or "".
func (r *ReviewResult) Text() string {
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

func (f *Finding) text() string {
	head := fmt.Sprintf("- %s — %s:%d-%d", f.Title, f.Location.Path, f.Location.Lines.Start, f.Location.Lines.End)
	return head + "\n  " + strings.ReplaceAll(f.Body, "\n", "\n  ")
}

type storedEntered struct {
	Type   string                `json:"type"`
	ID     string                `json:"id"`
	Target protocol.ReviewTarget `json:"target"`
	Hint   string                `json:"user_facing_hint"`
}

// EncodeEntered returns the rollout's form of the begin of a review.
func EncodeEntered(v *protocol.EnteredReviewModeItem, target protocol.ReviewTarget) any {
	return storedEntered{enteredReviewType, v.ID, target, v.Review}
}

// EncodeExited returns the rollout's form of the end of a review. result is nil if the review did not end.
func EncodeExited(id string, result *ReviewResult) any {
	return storedExited{exitedReviewType, id, result}
}

type storedExited struct {
	Type   string        `json:"type"`
	ID     string        `json:"id"`
	Output *ReviewResult `json:"review_output"`
}

// decodeExited returns the readable part of a result, which another program may have written.
func decodeExited(raw json.RawMessage) protocol.ThreadItemVariant {
	var s storedExited
	text := ""
	if protocol.Unmarshal(raw, &s) == nil && s.Output != nil {
		text = s.Output.Text()
	}
	return &protocol.ExitedReviewModeItem{ID: member(raw, "id"), Review: cmp.Or(text, NoReview)}
}
