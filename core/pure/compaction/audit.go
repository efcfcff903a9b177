package compaction

import (
	"cmp"
	"slices"
	"strings"

	"appserver/core/pure/digest"
	"appserver/protocol"
)

const (
	// lossTokens bounds the losses that an audit lists.
	lossTokens = 2000
	// lossItems is how many items a loss names: the newest.
	lossItems = 20
	// knownRules bounds the rules that a compaction records, in bytes.
	knownRules = 32 << 10
)

// Audit is the result of holding a summary against the facts of what it replaces.
type Audit struct {
	// Text is the summary with the rules of the user that it lacked. RulesAdded are these rules.
	Text       string
	RulesAdded []string
	// Rules are all rules that Text keeps, word for word or in other words.
	Rules []string
	// Losses are the other facts that Text does not mention, and rules that did not fit, within 2,000 tokens.
	// Omitted is how many more there are.
	Losses  []protocol.CompactionLoss
	Omitted int
}

// Audit returns a summary of the span with the rules of the user that it lacks, word for word below "Rules of the
// user:", and lists what else it loses. Rules of earlier compactions count as well. A rule is added before the listed
// ones that are newer, so that a rule is above the sentence that withdraws it. The list has at most half of a
// summary's limit, and added rules at least half of that. If they do not all fit, the first rule and the newest ones
// stay, and the rules of one message have a quarter of the room.
func (r *Rules) Audit(s *Span, text string) Audit {
	body, listed := splitRules(text)
	known, facts := s.rules()
	missing := notIn(known, text)
	added, left := choose(missing, max(r.rulesLimit()-sizeOf(listed), r.rulesLimit()/2))
	a := Audit{Text: body + rulesSection(inOrder(known, listed, added)), RulesAdded: texts(added)}
	if len(added) == 0 {
		a.Text = text
	}
	a.Rules = texts(first(withoutRules(known, left), knownRules))
	facts = facts.Missing(a.Text)
	facts.UserConstraints = texts(left)
	a.Losses, a.Omitted = s.bounded(s.source().Findings(facts))
	return a
}

// Lists returns the losses as lists of their texts.
func (a *Audit) Lists() protocol.CompactionLosses {
	of := func(kind string) []string {
		list := []string{}
		for _, loss := range a.Losses {
			if loss.Kind == kind {
				list = append(list, loss.Text)
			}
		}
		return list
	}
	return protocol.CompactionLosses{
		FilesChanged: of(lossKinds[digest.FileChanged]), CommandsRun: of(lossKinds[digest.CommandRun]),
		Decisions: of(lossKinds[digest.Decision]), OpenQuestions: of(lossKinds[digest.OpenQuestion]),
		UserConstraints: of(lossKinds[digest.UserConstraint]),
	}
}

// RemovedFrom returns the rules that the text of a draft lists and that another text, which a client made of it,
// does not keep.
func RemovedFrom(draft, text string) []string {
	_, listed := splitRules(draft)
	return digest.Facts{UserConstraints: listed}.Missing(text).UserConstraints
}

// rule is a rule of the user. message is the index of the item that states it, or -1 for an earlier one.
type rule struct {
	text    string
	message int
}

// rules returns the rules of earlier compactions and of the span, in the order in which they were last stated, and the
// facts of the span.
func (s *Span) rules() (rules []rule, facts digest.Facts) {
	facts = s.source().Facts()
	_, listed := splitRules(s.Former)
	stated := s.source().Findings(digest.Facts{UserConstraints: facts.UserConstraints})
	slices.SortStableFunc(stated, func(a, b digest.Finding) int { return cmp.Compare(lastItem(a), lastItem(b)) })
	again := map[string]bool{}
	for _, f := range stated {
		again[f.Text] = true
	}
	seen := map[string]bool{}
	add := func(text string, message int) {
		if !seen[text] && !slices.Contains(s.Removed, text) {
			seen[text] = true
			rules = append(rules, rule{text, message})
		}
	}
	for _, text := range append(s.FormerRules[:len(s.FormerRules):len(s.FormerRules)], listed...) {
		if !again[text] {
			add(text, -1)
		}
	}
	for _, f := range stated {
		add(f.Text, lastItem(f))
	}
	return rules, facts
}

func lastItem(f digest.Finding) int { return f.Items[len(f.Items)-1] }

func texts(rules []rule) (all []string) {
	for _, r := range rules {
		all = append(all, r.text)
	}
	return all
}

// notIn returns the rules that a text does not keep.
func notIn(rules []rule, text string) []rule {
	missing := map[string]bool{}
	for _, one := range (digest.Facts{UserConstraints: texts(rules)}).Missing(text).UserConstraints {
		missing[one] = true
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return !missing[r.text] })
}

func withoutRules(rules, others []rule) []rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r rule) bool { return slices.Contains(others, r) })
}

// rulesLimit bounds the rules that are added to a summary, in bytes.
func (r *Rules) rulesLimit() int { return r.summaryLimit() / 2 }

// messageShare is the part of the room for rules that the rules of one message have if not all rules fit.
const messageShare = 4

// inOrder returns a summary's list of rules with the added ones, each before the first listed one that is newer.
func inOrder(known []rule, listed []string, added []rule) []string {
	age := map[string]int{}
	for i, r := range known {
		age[r.text] = i
	}
	for _, r := range slices.Backward(added) {
		newer := func(text string) bool { at, found := age[text]; return found && at > age[r.text] }
		at := slices.IndexFunc(listed, newer)
		if at < 0 {
			at = len(listed)
		}
		listed = slices.Insert(listed, at, r.text)
	}
	return listed
}

// choose returns the rules that fit into room, and the others, both in their order.
func choose(rules []rule, room int) (chosen, left []rule) {
	if sizeOf(texts(rules)) <= room {
		return rules, nil
	}
	used := map[int]int{}
	share := room / messageShare
	fits := map[int]bool{}
	order := []int{0}
	for i := len(rules) - 1; i > 0; i-- {
		order = append(order, i)
	}
	for _, i := range order {
		size, message := len(entryMark)+len(rules[i].text), rules[i].message
		if size > room || message >= 0 && used[message]+size > share {
			continue
		}
		room -= size
		used[message] += size
		fits[i] = true
	}
	for i, r := range rules {
		if fits[i] {
			chosen = append(chosen, r)
		} else {
			left = append(left, r)
		}
	}
	return chosen, left
}

// first returns the first rules that fit into room.
func first(rules []rule, room int) []rule {
	for i, r := range rules {
		if room -= len(r.text); room < 0 {
			return rules[:i]
		}
	}
	return rules
}

// lossOrder has the kinds by the cost of their loss for the user.
var lossOrder = []struct {
	kind   digest.Kind
	failed bool
}{
	{digest.UserConstraint, false}, {digest.Decision, false}, {digest.CommandRun, true}, {digest.FileChanged, false},
	{digest.OpenQuestion, false}, {digest.CommandRun, false},
}

// bounded lists findings with the ids of their items, as many as fit, and counts the others.
func (s *Span) bounded(findings []digest.Finding) (losses []protocol.CompactionLoss, omitted int) {
	losses = []protocol.CompactionLoss{}
	room := lossTokens * bytesPerToken
	fits := map[int]bool{}
	for _, order := range lossOrder {
		for i, f := range findings {
			if f.Kind != order.kind || f.Failed != order.failed {
				continue
			}
			if size := lossSize(s.loss(f)); size <= room {
				room -= size
				fits[i] = true
			}
		}
	}
	for i, f := range findings {
		if fits[i] {
			losses = append(losses, s.loss(f))
		}
	}
	return losses, len(findings) - len(losses)
}

func (s *Span) loss(f digest.Finding) protocol.CompactionLoss {
	loss := protocol.CompactionLoss{Kind: lossKinds[f.Kind], Text: f.Text, ItemIDs: []string{}}
	for _, i := range f.Items[max(0, len(f.Items)-lossItems):] {
		loss.ItemIDs = append(loss.ItemIDs, s.ids[i])
	}
	return loss
}

func lossSize(l protocol.CompactionLoss) int {
	size := len(`{"kind":"","text":"","itemIds":[]},`) + len(l.Kind) + len(l.Text)
	for _, id := range l.ItemIDs {
		size += len(`"",`) + len(id)
	}
	return size
}

var lossKinds = map[digest.Kind]string{
	digest.FileChanged: "fileChanged", digest.CommandRun: "commandRun", digest.Decision: "decision",
	digest.OpenQuestion: "openQuestion", digest.UserConstraint: "userConstraint",
}

const (
	rulesHead = "Rules of the user:"
	entryMark = "- "
)

// rulesHeads begin a list of rules in a summary: the present head and two former ones, in small letters.
var rulesHeads = []string{"rules of the user", "the user also asked", "the user asked to keep to"}

// rulesSection returns the list of rules at the end of a summary, or "".
func rulesSection[R rule | string](rules []R) string {
	if len(rules) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n" + rulesHead)
	for _, one := range rules {
		b.WriteString("\n" + entryMark)
		switch one := any(one).(type) {
		case rule:
			b.WriteString(one.text)
		case string:
			b.WriteString(one)
		}
	}
	return b.String()
}

func sizeOf(rules []string) int { return len(rulesSection(rules)) }

// splitRules removes the lists of rules from a summary.
func splitRules(text string) (body string, rules []string) {
	var rest strings.Builder
	within := false
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		entry, isEntry := cutMark(plain)
		continues := within && len(rules) > 0 && strings.HasPrefix(line, "  ") && plain != ""
		switch {
		case isRulesHead(plain):
			within = true
		case within && isEntry:
			if !strings.HasPrefix(entry, "[…") { // an extract's mark for missing entries
				rules = append(rules, entry)
			}
		case continues:
			rules[len(rules)-1] += " " + plain
		case within && plain == "":
		default:
			within = false
			rest.WriteString(line)
		}
	}
	return strings.TrimSpace(rest.String()), rules
}

// cutMark returns an entry of a list without its mark.
func cutMark(line string) (entry string, found bool) {
	for _, mark := range []string{entryMark, "* ", "• "} {
		if entry, found = strings.CutPrefix(line, mark); found {
			return strings.TrimSpace(entry), true
		}
	}
	return "", false
}

func isRulesHead(line string) bool {
	return slices.Contains(rulesHeads, strings.ToLower(strings.Trim(line, "#*_: ")))
}

// AuditMask returns the failed commands whose outputs, by their sorted places, get placeholders: their causes leave
// the context. Messages and calls stay.
func (c *Context) AuditMask(p Plan, masked []int) Audit {
	s := Span{Dir: c.Dir}
	gone := map[int]bool{}
	for _, i := range c.Before(p.From) {
		if item := c.Item(i); item.IsCall() || item.IsOutput() {
			_, gone[len(s.Items)] = slices.BinarySearch(masked, i)
			s.Items, s.ids = append(s.Items, item.Sent()), append(s.ids, item.ID())
		}
	}
	var lost []digest.Finding
	for _, f := range s.source().Findings(digest.Facts{CommandsRun: s.source().Facts().CommandsRun}) {
		if output := f.Items[len(f.Items)-1]; f.Failed && gone[output] {
			f.Items = []int{output}
			lost = append(lost, f)
		}
	}
	var a Audit
	a.Losses, a.Omitted = s.bounded(lost)
	return a
}
