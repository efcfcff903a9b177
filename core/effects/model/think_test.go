package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model"
)

// thought is the text and the reasoning of an answer.
type thought struct{ reasoning, text string }

// separate separates an answer that comes in pieces.
func separate(pieces []string) (got thought) {
	t := model.Think{
		Text:      func(s string) { got.text += s },
		Reasoning: func(s string) { got.reasoning += s },
	}
	t.Retract = func() { got = thought{reasoning: got.reasoning + got.text} }
	for _, p := range pieces {
		t.Add(p)
	}
	t.Close()
	return got
}

// TestReasoningInTags separates reasoning at the begin of an answer, however the answer is split.
func TestReasoningInTags(t *testing.T) {
	for answer, want := range map[string]thought{
		"<think>why</think>Answer.":                {"why", "Answer."},
		"\n <think>\nwhy\n</think>\n\nAnswer.\n":   {"\nwhy\n", "Answer.\n"},
		"<thinking>why</thinking>Answer.":          {"why", "Answer."},
		"[THINK]why[/THINK]Answer.":                {"why", "Answer."},
		"<think></think>\n\nAnswer.":               {"", "Answer."},
		"<think>never closed":                      {"never closed", ""},
		"why\n</think>\n\nAnswer.":                 {"why\n", "Answer."},
		"why</think>Answer.":                       {"why", "Answer."},
		"</think>\n\nAnswer.":                      {"", "Answer."},
		"why</think>":                              {"why", ""},
		"Answer.":                                  {"", "Answer."},
		"  Answer.":                                {"", "  Answer."},
		"":                                         {"", ""},
		"<thin air> is text":                       {"", "<thin air> is text"},
		"<think":                                   {"", "<think"},
		"a < b </thin":                             {"", "a < b </thin"},
		"Models write <think>why</think> first.":   {"", "Models write <think>why</think> first."},
		"The end is `</think>`.":                   {"", "The end is `</think>`."},
		"```\n</think>\n```\nDone.":                {"", "```\n</think>\n```\nDone."},
		"The end is \"</think>\".":                 {"", "The end is \"</think>\"."},
		"<think>why</think>Tags: <think>x</think>": {"why", "Tags: <think>x</think>"},
		"why</think>Tags: </think>":                {"why", "Tags: </think>"},
	} {
		require.Equal(t, want, separate([]string{answer}), "whole: %q", answer)
		require.Equal(t, want, separate(strings.Split(answer, "")), "by bytes: %q", answer)
		for at := range len(answer) {
			require.Equal(t, want, separate([]string{answer[:at], answer[at:]}), "%q | %q", answer[:at], answer[at:])
		}
		require.Equal(t, want.text, model.WithoutThought(answer), answer)
	}
}

// TestReasoningInTagsBesideReasoning is text, because the provider separates reasoning itself.
func TestReasoningInTagsBesideReasoning(t *testing.T) {
	var text strings.Builder
	think := model.Think{Text: func(s string) { text.WriteString(s) }}
	think.Skip()
	think.Add("<think>x</think>y")
	think.Close()
	require.Equal(t, "<think>x</think>y", text.String())
}
