package compaction

import (
	"slices"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// Rules are the configuration of compactions. Tokens count the next request.
type Rules struct {
	// Strategy is one of protocol's Compact constants.
	Strategy string
	// Limit is the number of tokens above which the context is compacted before a request, or 0 for
	// never. Target is the number of tokens after a compaction, or 0 for no target.
	Limit, Target int64
	// Shares are those of the context window from which Limit and Target follow.
	Shares Shares
	// KeepTurns is the number of the last turns that stay word for word.
	KeepTurns int
	// UserTokens bounds the messages of the user that stay of older turns.
	UserTokens int64
	// Prompt instructs the model that summarises, or is "".
	Prompt string
}

const (
	// maxSummary bounds a summary, minGain is the least number of tokens worth a compaction.
	maxSummary = 4000
	minGain    = 100
)

// Budgets returns the maximum numbers of tokens of a summary and of the messages of the user.
// target is the number of tokens of the next request, or 0 for no target.
func (r *Rules) Budgets(target int64) (summary, words int64) {
	summary, words = maxSummary, r.UserTokens
	if target > 0 {
		summary, words = min(summary, target/5), min(words, target/4)
	}
	return summary, words
}

// Plan is a decision on what a compaction replaces.
type Plan struct {
	// From is the place of the first item that stays, or history.None if no later item stays.
	From int
	// Words are the places of the messages of the user before From that stay.
	Words []int
}

// Context is a history with the facts of its thread on which plans depend.
type Context struct {
	*history.History
	// PromptTokens is the cost of the next request.
	PromptTokens int64
	// ActiveTurn is the id of the active turn, or "". The user's messages of that turn stay.
	ActiveTurn string
	// Dir is the working directory of the thread.
	Dir string
}

// ToTarget returns the plan that keeps most of at most some turns and reaches the target, or else the plan
// that comes nearest. It returns false if no plan gains anything. If every plan would exceed the limit, fewer
// messages of the user stay.
func (c *Context) ToTarget(r *Rules, keep int, target int64) (p Plan, found bool) {
	costs := c.costs()
	ranks := c.boundaries(costs, keep)
	summary, words := r.Budgets(target)
	if len(ranks) > 0 {
		words = costs.wordsWithin(r.Limit, target, ranks[len(ranks)-1], summary, words)
	}
	for _, rank := range ranks {
		if costs.work[rank] == 0 && costs.words[rank] <= words || costs.removed(rank, words) <= minGain {
			continue
		}
		p, found = Plan{From: costs.places[rank]}, true
		if target == 0 || costs.after(rank, summary, words) <= target {
			break
		}
	}
	if found {
		p.Words = c.WordsBefore(p.From, words)
	}
	return p, found
}

// Whole returns the plan that replaces all but the last turns. If there are no more turns than that, it
// replaces everything, unless nothing joined since the last compaction.
func (c *Context) Whole(r *Rules, keep int) (p Plan, found bool) {
	if len(c.ActiveTurns()) <= keep {
		if !c.joinedSinceCompaction() {
			return p, false
		}
		keep = 0
	}
	return c.Keeping(r, keep)
}

// Keeping returns the plan that replaces all but the last turns, or everything if keep is 0. It returns
// false if nothing would be replaced.
func (c *Context) Keeping(r *Rules, keep int) (p Plan, found bool) {
	_, words := r.Budgets(r.Target)
	p.From = c.LastTurns(keep)
	costs := c.costs()
	rank := costs.rank(p.From)
	p.Words = c.WordsBefore(p.From, words)
	return p, costs.work[rank] > 0 || costs.words[rank] > words
}

// OfRange returns the plan for a range of turns; nil is the range that Whole would replace.
func (c *Context) OfRange(r *Rules, turns *protocol.PruneRange) (p Plan, found bool, err *protocol.Error) {
	if turns == nil {
		p, found = c.Whole(r, r.KeepTurns)
		return p, found, nil
	}
	active := c.ActiveTurns()
	keep := 0
	switch turns.Word {
	case protocol.RangeKeepLastOutputs:
		return p, false, protocol.InvalidParams("range.keepLastOutputs",
			"a compaction replaces turns: use keepLastTurns here, or keepLastOutputs with context/prune")
	case protocol.RangeFirstTurns:
		keep = max(len(active)-int(turns.Count), 0)
	case protocol.RangeKeepLastTurns:
		keep = int(turns.Count)
	case protocol.RangeBeforeTurn:
		at := slices.Index(active, turns.TurnID)
		if at < 0 {
			return p, false, protocol.InvalidParams("range.beforeTurnId", "turn %s is not in the context", turns.TurnID)
		}
		keep = len(active) - at
	}
	if keep >= len(active) && keep > 0 {
		return p, false, nil
	}
	p, found = c.Keeping(r, keep)
	return p, found, nil
}

// TokensAfter returns an upper bound of the tokens after a plan.
func (c *Context) TokensAfter(r *Rules, p Plan) int64 {
	costs := c.costs()
	summary, words := r.Budgets(r.Target)
	return costs.after(costs.rank(p.From), summary, words)
}

// Masked returns the tokens after the outputs that a plan replaces have placeholders.
func (c *Context) Masked(p Plan) int64 {
	costs := c.costs()
	return costs.masked(costs.rank(p.From))
}

// Maskable returns the places of the outputs that a plan replaces and whose placeholders cost less, sorted.
func (c *Context) Maskable(p Plan) (places []int) {
	for _, i := range c.Before(p.From) {
		item := c.Item(i)
		if !item.IsOutput() || !item.Kept() || !item.InForm() || !c.CallSent(item) {
			continue
		}
		pinned := c.IsPinned(item) || c.Item(item.Pair()).Pinned()
		if !pinned && c.ExceedsPlaceholder(i) {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	return places
}

// isRequest reports whether the item is the user's request in the active turn. It stays while the agent
// works on it.
func (c *Context) isRequest(place int) bool {
	return c.ActiveTurn != "" && c.Item(place).TurnID() == c.ActiveTurn && c.IsUserMessage(place)
}

// joinedSinceCompaction reports whether an item of the conversation joined since the last compaction, or
// there was none.
func (c *Context) joinedSinceCompaction() bool {
	last := c.LastTrim()
	if last == nil || last.Op != protocol.EditCompact {
		return true
	}
	for i := range c.Shown() {
		item := c.Item(i)
		if item.Ordinal() > last.Ordinal() && !item.IsNotice() && !item.IsSummary() && item.Kept() {
			return true
		}
	}
	return false
}

// WordsBefore returns the messages of the user before a place that stay word for word: the messages of the
// active turn, the first one, and the last ones within the budget.
func (c *Context) WordsBefore(place int, budget int64) (kept []int) {
	var all []int
	for _, i := range c.Before(place) {
		switch {
		case !c.InPrompt(i) || !c.IsUserMessage(i):
		case c.isRequest(i):
			kept = append(kept, i)
		default:
			all = append(all, i)
		}
	}
	if len(all) > 0 && c.Cost(all[0]) <= budget/2 {
		budget -= c.Cost(all[0])
		kept, all = append(kept, all[0]), all[1:]
	}
	for i := len(all) - 1; i >= 0; i-- {
		if budget -= c.Cost(all[i]); budget < 0 {
			return append(kept, all[i+1:]...)
		}
	}
	return append(kept, all...)
}

// boundaries returns the ranks at which the prompt can be cut, the one that keeps most first: before the last
// turns, at most keep of them, and then within the last turn, but never between a call and its output.
func (c *Context) boundaries(costs *costTable, keep int) (ranks []int) {
	turns := c.ActiveTurns()
	for n := min(keep, len(turns)); n > 0; n-- {
		ranks = append(ranks, costs.rank(c.FirstOfTurn(turns[len(turns)-n])))
	}
	if len(turns) == 0 {
		return ranks
	}
	open := map[int]bool{}
	for rank := costs.rank(c.FirstOfTurn(turns[len(turns)-1])); rank < len(costs.places)-1; rank++ {
		place := costs.places[rank]
		item := c.Item(place)
		if item.IsOutput() {
			delete(open, item.Pair())
			continue
		}
		if len(open) == 0 && !item.Hidden() && item.InForm() {
			ranks = append(ranks, rank)
		}
		if item.IsCall() && item.Pair() != history.None {
			open[place] = true
		}
	}
	return ranks
}
