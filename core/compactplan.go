package core

import (
	"slices"
	"strings"

	"appserver/core/digest"
	"appserver/core/history"
	"appserver/protocol"
)

// compactPlan is what a compaction takes out: everything before an item, but for what
// survives every cut, and some of the user's messages.
type compactPlan struct {
	from  int // the place of the first item that stays, none where all goes
	words []int
}

// layout is what the items cost, by their ranks in the prompt. Sums are over all ranks
// before one.
type layout struct {
	places []int
	// costs are the whole, stays what survives a cut, words the user's, masks what could
	// be saved by masking outputs.
	costs, stays, words, masks []int64
	// work counts the items that a compaction is for: answers, calls and outputs.
	work  []int
	frame int64
}

// measure prices the prompt as it is now.
func (t *Thread) measure() *layout {
	m := &layout{frame: t.PromptTokens()}
	stays := map[int]bool{}
	for _, i := range t.context.Retained(none) {
		stays[i] = true
	}
	var cost, stay, word, mask int64
	work := 0
	for place := range t.context.InOrder() {
		m.places = append(m.places, place)
		m.costs, m.stays, m.words, m.masks = append(m.costs, cost), append(m.stays, stay), append(m.words, word), append(m.masks, mask)
		m.work = append(m.work, work)
		c := t.context.Item(place)
		price := t.context.SentTokens(place)
		cost += price
		switch {
		case price == 0, c.IsSummary():
		case stays[place], t.isRequest(place):
			stay += price
		case t.isWord(place):
			word += price
		case t.context.Category(place) == protocol.CategoryOther: // notes of this server's
		default:
			work++
			if c.IsOutput() && c.Kept() {
				mask += max(price-t.context.Scaled(history.PlaceholderTokens), 0)
			}
		}
	}
	m.frame -= cost
	m.places = append(m.places, none)
	m.costs, m.stays, m.words, m.masks = append(m.costs, cost), append(m.stays, stay), append(m.words, word), append(m.masks, mask)
	m.work = append(m.work, work)
	return m
}

// isWord tells whether the item is a message that the user typed.
func (t *Thread) isWord(place int) bool {
	return t.context.Item(place).IsMessage() && t.context.Category(place) == protocol.CategoryUserMessage
}

// isRequest tells whether the item is what the user wants of the turn under way: it stays
// while the agent works on it.
func (t *Thread) isRequest(place int) bool {
	return t.active != nil && t.context.Item(place).TurnID() == t.active.id && t.isWord(place)
}

// rank is that of a place; none is behind all.
func (m *layout) rank(place int) int { return slices.Index(m.places, place) }

// after is what the prompt costs at most after a compaction that keeps the items from a
// rank on, a summary and some of the user's messages.
func (m *layout) after(rank int, summary, words int64) int64 {
	all := m.costs[len(m.costs)-1]
	return m.frame + all - m.costs[rank] + m.stays[rank] + summary + min(words, m.words[rank])
}

// gone is what a compaction that keeps the items from a rank on takes out, at least.
func (m *layout) gone(rank int, words int64) int64 {
	return m.costs[rank] - m.stays[rank] - min(words, m.words[rank])
}

// masked is what it costs where outputs before a rank are masked.
func (m *layout) masked(rank int) int64 { return m.frame + m.costs[len(m.costs)-1] - m.masks[rank] }

// cuts are the ranks at which the prompt can be cut, those that keep most first: before
// the last turns, at most keep of them, and then within the last one, where no call is
// parted from its output.
func (t *Thread) cuts(m *layout, keep int) (ranks []int) {
	turns := t.context.ActiveTurns()
	for n := min(keep, len(turns)); n > 0; n-- {
		ranks = append(ranks, m.rank(t.context.FirstOfTurn(turns[len(turns)-n])))
	}
	if len(turns) == 0 {
		return ranks
	}
	open := map[int]bool{}
	for rank := m.rank(t.context.FirstOfTurn(turns[len(turns)-1])); rank < len(m.places)-1; rank++ {
		place := m.places[rank]
		c := t.context.Item(place)
		if c.IsOutput() {
			delete(open, c.Pair())
			continue
		}
		if len(open) == 0 && !c.Hidden() && c.InForm() {
			ranks = append(ranks, rank)
		}
		if c.IsCall() && c.Pair() != none {
			open[place] = true
		}
	}
	return ranks
}

// budgets are the tokens that a summary and the user's messages may have, where the prompt
// is to have a number of them; 0 is no bound.
func (r *Compaction) budgets(target int64) (summary, words int64) {
	summary, words = mostSummary, r.UserTokens
	if target > 0 {
		summary, words = min(summary, target/5), min(words, target/4)
	}
	return summary, words
}

const (
	// mostSummary bounds a summary, leastSummary is what one is worth being made for, in
	// tokens.
	mostSummary  = 4000
	leastSummary = 100
)

// planCompaction is the compaction that keeps most of at most some turns and brings the
// prompt to the target, or else the one that comes nearest. It is false where nothing
// would be gained.
func (t *Thread) planCompaction(r *Compaction, keep int, target int64) (p compactPlan, found bool) {
	m := t.measure()
	summary, words := r.budgets(target)
	for _, rank := range t.cuts(m, keep) {
		if m.work[rank] == 0 && m.words[rank] <= words || m.gone(rank, words) <= leastSummary {
			continue
		}
		p, found = compactPlan{from: m.places[rank]}, true
		if target == 0 || m.after(rank, summary, words) <= target {
			break
		}
	}
	if found {
		p.words = t.wordsBefore(p.from, words)
	}
	return p, found
}

// planWhole is the compaction of all but the last turns; of everything where there are no
// more turns than that, but not of what a compaction has just kept.
func (t *Thread) planWhole(r *Compaction, keep int) (p compactPlan, found bool) {
	if len(t.context.ActiveTurns()) <= keep {
		if !t.saidSinceCompaction() {
			return p, false
		}
		keep = 0
	}
	return t.planKeeping(r, keep)
}

// planKeeping is the compaction of all but the last turns, and of everything where these
// are 0.
func (t *Thread) planKeeping(r *Compaction, keep int) (p compactPlan, found bool) {
	_, words := r.budgets(r.Target)
	p.from = t.context.LastTurns(keep)
	m := t.measure()
	rank := m.rank(p.from)
	p.words = t.wordsBefore(p.from, words)
	return p, m.work[rank] > 0 || m.words[rank] > words
}

// saidSinceCompaction tells whether anything joined since the context was compacted, or it
// never was.
func (t *Thread) saidSinceCompaction() bool {
	last := t.context.LastTrim()
	if last == nil || last.Op != protocol.EditCompact {
		return true
	}
	for i := range t.context.Len() {
		if c := t.context.Item(i); c.Ordinal() > last.Ordinal() && !c.IsNotice() && !c.IsSummary() && c.Kept() {
			return true
		}
	}
	return false
}

// wordsBefore are the messages of the user before a place that stay word for word: those
// of the turn under way, the first one, which tells what it is all about, and the last ones
// within the budget.
func (t *Thread) wordsBefore(place int, budget int64) (kept []int) {
	var all []int
	for _, i := range t.context.Before(place) {
		switch {
		case !t.context.InPrompt(i) || !t.isWord(i):
		case t.isRequest(i):
			kept = append(kept, i)
		default:
			all = append(all, i)
		}
	}
	price := func(i int) int64 { return t.context.Cost(i) }
	if len(all) > 0 && price(all[0]) <= budget/2 {
		budget -= price(all[0])
		kept, all = append(kept, all[0]), all[1:]
	}
	for i := len(all) - 1; i >= 0; i-- {
		if budget -= price(all[i]); budget < 0 {
			return append(kept, all[i+1:]...)
		}
	}
	return append(kept, all...)
}

// stretch is what a compaction replaces: the items in order, and the summary that stood
// for what was before them, "" for none.
type stretch struct {
	former string
	places []int
	items  []protocol.ResponseItem
	// shown are the items with those among them that stay, such as the user's requests: the
	// conversation as the model is to summarise it. earlier are those before the former summary.
	shown, earlier []protocol.ResponseItem
}

func (t *Thread) replaced(p compactPlan) (s stretch) {
	stays := map[int]bool{}
	for _, i := range append(t.context.Retained(p.from), p.words...) {
		stays[i] = true
	}
	for _, i := range t.context.Before(p.from) {
		c := t.context.Item(i)
		switch {
		case c.Hidden(), c.IsUnsentCompaction():
		case c.Ordinal() == t.context.SentCompaction() && c.IsPart(): // what it stands for is readable
			s.places = append(s.places, i)
		case stays[i]:
			if c.Kept() && !c.IsNotice() {
				s.shown = append(s.shown, c.Sent())
			}
		case !c.Kept():
			s.places = append(s.places, i)
		case c.IsSummary():
			s.former, s.places = strings.TrimSpace(s.former+"\n\n"+summaryText(c.Sent())), append(s.places, i)
			s.earlier, s.shown = append(s.earlier, s.shown...), nil
		default:
			s.places, s.items, s.shown = append(s.places, i), append(s.items, c.Sent()), append(s.shown, c.Sent())
		}
	}
	return s
}

// losses are what a summary of the stretch does not mention.
func (s *stretch) losses(summary string) protocol.CompactionLosses {
	return protocol.CompactionLosses(digest.Of(s.items).Missing(summary))
}

// messages are the texts of the user's messages.
func (s *stretch) messages() (texts []string) {
	for _, item := range s.items {
		if m, ok := item.ResponseItemVariant.(*protocol.Message); ok && m.Role == protocol.RoleUser {
			texts = append(texts, history.TextOf(item))
		}
	}
	return texts
}
