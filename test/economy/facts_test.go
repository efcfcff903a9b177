package economy

import (
	"fmt"
	"strings"

	"appserver/core"
	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// counted is a number of facts, and how many of them are kept.
type counted struct{ all, kept int }

func (c *counted) add(o counted) { c.all, c.kept = c.all+o.all, c.kept+o.kept }

// percent returns the kept share, which is 100 for nothing.
func (c counted) percent() float64 {
	if c.all == 0 {
		return 100
	}
	return 100 * float64(c.kept) / float64(c.all)
}

// audit counts the facts that compactions keep.
type audit struct {
	// pending is set after a compaction until the next request.
	pending     bool
	compactions int
	// span counts the facts of what each compaction replaced, by kind; so counts those of all that is
	// replaced so far. Rules are counted in span as all that the user stated so far.
	span, soFar [factKinds]counted
	// stated are the facts that a request had. gone are those whose items a compaction replaced.
	stated, gone map[int]bool
}

func newAudit() audit { return audit{stated: map[int]bool{}, gone: map[int]bool{}} }

// notePrompt notes the facts that a request states.
func (a *audit) notePrompt(s *session, turn int, p *core.Prompt) {
	has := callsOf(p)
	for i := range s.facts {
		f := &s.facts[i]
		if !a.stated[i] && (f.call != "" && has[f.call] || f.call == "" && (f.turn < turn || f.turn == turn && !f.said)) {
			a.stated[i] = true
		}
	}
}

func callsOf(p *core.Prompt) map[string]bool {
	has := map[string]bool{}
	for i := range p.Items {
		if c, ok := p.Items[i].ResponseItemVariant.(*protocol.FunctionCall); ok {
			has[c.CallID] = true
		}
	}
	return has
}

// check counts the facts that the request after a compaction keeps: in the summary, or in a message of the user.
func (a *audit) check(s *session, turn int, p *core.Prompt) {
	a.pending = false
	a.compactions++
	has := callsOf(p)
	var kept, said strings.Builder // messages of the user and summaries; messages of the assistant
	for i := range p.Items {
		m, ok := p.Items[i].ResponseItemVariant.(*protocol.Message)
		if ok && m.Role == protocol.RoleAssistant {
			said.WriteString(history.TextOf(p.Items[i]) + "\n")
		} else if ok {
			kept.WriteString(history.TextOf(p.Items[i]) + "\n\n")
		}
	}
	for i := range s.facts {
		f := &s.facts[i]
		inPrompt := has[f.call] || f.said && strings.Contains(said.String(), f.text)
		if !a.stated[i] || inPrompt {
			continue
		}
		kind := f.kind
		if kind == commandFailed && f.solvedBy != "" && a.statedCall(s, f.solvedBy, turn) {
			kind = failureSolved
		}
		one := counted{1, 0}
		if f.keptIn(kept.String()) {
			one.kept = 1
		}
		a.soFar[kind].add(one)
		if !a.gone[i] || kind == constraint {
			a.span[kind].add(one)
		}
		a.gone[i] = true
	}
}

// statedCall reports whether a call was made before a turn, or within it.
func (a *audit) statedCall(s *session, id string, turn int) bool {
	for t := range s.turns[:turn+1] {
		for _, answer := range s.turns[t].answers {
			for _, c := range answer.calls {
				if c.id == id {
					return true
				}
			}
		}
	}
	return false
}

// keptIn reports whether a text states the fact, by the rules of the server's audit.
func (f *fact) keptIn(text string) bool {
	var facts digest.Facts
	switch f.kind {
	case fileChanged:
		facts.FilesChanged = []string{f.text}
	case commandFailed, failureSolved:
		facts.CommandsRun = []string{f.entry()}
	case decision:
		facts.Decisions = []string{f.text}
	default:
		facts.UserConstraints = []string{f.text}
	}
	left := facts.Missing(text)
	return len(left.FilesChanged)+len(left.CommandsRun)+len(left.Decisions)+len(left.UserConstraints) == 0
}

// entry returns the form in which the server states a failed command.
func (f *fact) entry() string { return fmt.Sprintf("%s (exit %d): %s", f.text, f.exit, f.cause) }
