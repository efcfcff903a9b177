package toolspec

import (
	"path"
	"slices"
	"strings"

	"appserver/core/pure/command"
)

// RuleDecision is the decision of a rule. The stricter one is greater.
type RuleDecision int

// The decisions: nothing to say, the user decides, or the command does not run.
const (
	RuleAllows RuleDecision = iota
	RulePrompts
	RuleForbids
)

// CommandRule decides about the commands that begin with the words of a pattern.
type CommandRule struct {
	// Pattern has the alternatives for each word.
	Pattern  [][]string
	Decision RuleDecision
	// Justification is the reason of the rule, or "".
	Justification string
	// Source is the file and the line of the rule.
	Source string
}

// CommandRules are the rules of a thread.
type CommandRules []CommandRule

// RuleVerdict is the result of a comparison. Rule is nil if no rule has anything to say.
type RuleVerdict struct {
	Decision RuleDecision
	Rule     *CommandRule
	// Certain is set if the command is one of the rule. Otherwise it may be one.
	Certain bool
}

// Restricts reports whether a rule can have anything to say.
func (s CommandRules) Restricts() bool {
	return slices.ContainsFunc(s, func(r CommandRule) bool { return r.Decision != RuleAllows })
}

// Decide returns the strictest decision about commands. A rule that may forbid one of them prompts.
func (s CommandRules) Decide(commands [][]command.Word) (out RuleVerdict) {
	for _, words := range commands {
		for i := range s {
			if found := s[i].compare(words); found.Decision > out.Decision {
				out = found
			}
		}
	}
	return out
}

func (r *CommandRule) compare(words []command.Word) RuleVerdict {
	if r.Decision == RuleAllows {
		return RuleVerdict{}
	}
	switch r.match(words) {
	case yes:
		return RuleVerdict{Decision: r.Decision, Rule: r, Certain: true}
	case maybe:
		return RuleVerdict{Decision: RulePrompts, Rule: r}
	}
	return RuleVerdict{}
}

// Command returns the beginning of the commands of the rule, as a text.
func (r *CommandRule) Command() string {
	words := make([]string, len(r.Pattern))
	for i, alternatives := range r.Pattern {
		words[i] = strings.Join(alternatives, "|")
	}
	return strings.Join(words, " ")
}

type answer int

const (
	no answer = iota
	maybe
	yes
)

func (r *CommandRule) match(words []command.Word) answer {
	for i, alternatives := range r.Pattern {
		if i == len(words) {
			return no
		}
		best := no
		for _, token := range alternatives {
			if i == 0 {
				best = max(best, isProgram(words[i], token))
			} else {
				best = max(best, isWord(words[i], token))
			}
		}
		if best != yes {
			return best
		}
	}
	return yes
}

func isWord(w command.Word, token string) answer {
	switch {
	case w.Known && w.Text == token:
		return yes
	case !w.Known && strings.HasPrefix(token, w.Text):
		return maybe
	}
	return no
}

// isProgram compares the name of a program. A name stands for each file of that name.
func isProgram(w command.Word, token string) answer {
	switch {
	case w.Known && (w.Text == token || path.Base(w.Text) == token):
		return yes
	case w.Known && !strings.Contains(w.Text, "/") && w.Text == path.Base(token):
		return yes
	case w.Known:
		return no
	case w.Base == "" || w.Base == path.Base(token):
		return maybe
	}
	return no
}
