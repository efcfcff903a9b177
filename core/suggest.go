package core

import (
	"cmp"
	"fmt"
	"slices"

	"appserver/core/pure/economy"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// SuggestContext requests the items that requests can do without.
type SuggestContext struct {
	To   protocol.Caller
	Goal *protocol.ContextSuggestGoal
	// Rules are the rules of the thread's configuration, Cache describes the cache of a model's provider.
	Rules EconomyRules
	Cache func(provider, model string) CacheFacts
}

func (in SuggestContext) apply(s *step) {
	goal, err := s.goalOf(in.Goal)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, s.suggest(&in.Rules, in.Cache(s.state.Settings.Provider, s.state.Settings.Model), goal))
}

// goalOf returns by how many tokens the next request should get smaller, or nil without a goal.
func (s *step) goalOf(g *protocol.ContextSuggestGoal) (*int64, *protocol.Error) {
	switch {
	case g == nil:
		return nil, nil
	case (g.Tokens == nil) == (g.Share == nil):
		return nil, protocol.InvalidParams("goal", "name the goal by `tokens` or by `share`")
	case g.Tokens != nil && *g.Tokens < 0:
		return nil, protocol.InvalidParams("goal.tokens", "expected a number of tokens from 0, got %d", *g.Tokens)
	case g.Tokens != nil:
		return new(max(s.PromptTokens()-*g.Tokens, 0)), nil
	case !(*g.Share > 0 && *g.Share <= 1):
		return nil, protocol.InvalidParams("goal.share", "expected a share above 0 and up to 1, got %v", *g.Share)
	}
	return new(int64(float64(s.PromptTokens()) * *g.Share)), nil
}

// suggest returns the suggestions, best first. saving is by how many tokens the next request should get
// smaller, or nil.
func (s *step) suggest(r *EconomyRules, c CacheFacts, saving *int64) protocol.ContextSuggestResponse {
	p := s.prices(c)
	answer := protocol.ContextSuggestResponse{Revision: s.context.Revision(), PromptTokens: s.PromptTokens(),
		ExpectedRequests: p.Expected, Suggestions: []protocol.ContextSuggestion{}}
	findings := s.findings(r, false)
	groups := make([][]economy.Candidate, len(findings))
	for _, c := range s.candidates(findings, false) {
		groups[c.Finding] = append(groups[c.Finding], c)
	}
	var all []rankedSuggestion
	for i := range findings {
		if len(groups[i]) > 0 {
			all = append(all, s.suggestion(&p, &findings[i], groups[i]))
		}
	}
	slices.SortStableFunc(all, func(a, b rankedSuggestion) int {
		return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(b.NetPrice.TokensSaved, a.NetPrice.TokensSaved))
	})
	if saving == nil {
		selectPaying(&p, all)
	}
	var chosen []economy.Candidate
	var saved int64
	for i := range all {
		g := &all[i]
		g.Selected = g.Selected || saving != nil && saved < *saving
		if g.Selected {
			chosen, saved = append(chosen, g.items...), saved+g.NetPrice.TokensSaved
		}
		answer.Suggestions = append(answer.Suggestions, g.ContextSuggestion)
	}
	answer.NetPrice = priceOfAll(&p, chosen)
	if saving != nil {
		answer.GoalReached = new(saved >= *saving)
	}
	return answer
}

// selectPaying selects the suggestions that gain most together. Each one from some place on adds its savings, and
// the cache is left once, before the first of them.
func selectPaying(p *economy.Prices, all []rankedSuggestion) {
	order := make([]*rankedSuggestion, len(all))
	for i := range all {
		order[i] = &all[i]
	}
	slices.SortStableFunc(order, func(a, b *rankedSuggestion) int {
		return cmp.Compare(b.items[0].Before, a.items[0].Before)
	})
	best, end, saves := 0.0, 0, int64(0)
	for i, g := range order {
		saves += g.NetPrice.TokensSaved
		leaving := p.Leaving(g.items[0].Before, saves)
		if gain := p.Gain(leaving, saves); gain > best || leaving == 0 {
			best, end = max(best, gain), i+1
		}
	}
	for _, g := range order[:end] {
		g.Selected = true
	}
}

// rankedSuggestion is a suggestion with what it saves within the expected requests.
type rankedSuggestion struct {
	protocol.ContextSuggestion
	gain  float64
	items []economy.Candidate
}

func (s *step) suggestion(p *economy.Prices, f *economy.Finding, items []economy.Candidate) rankedSuggestion {
	r := rankedSuggestion{items: items}
	r.Reason, r.NetPrice = f.Reason, priceOfAll(p, items)
	ids := make([]string, len(items))
	for i, c := range items {
		ids[i] = s.context.Item(c.Place).ID()
	}
	r.ID, r.ItemIDs = string(f.Reason)+":"+ids[0], ids
	r.Edits = []protocol.ContextOperation{{ContextOperationVariant: &protocol.SetInclusion{
		ContextTargets: protocol.ContextTargets{IDs: ids}}}}
	r.Text, r.Risk = textOf(f, items, s.context)
	r.gain = p.Gain(r.NetPrice.TokensLeavingCache, r.NetPrice.TokensSaved)
	return r
}

// priceOfAll returns the net price of taking out items.
func priceOfAll(p *economy.Prices, items []economy.Candidate) protocol.ContextNetPrice {
	var saves int64
	before := p.Cached
	for _, c := range items {
		saves, before = saves+c.Saves, min(before, c.Before)
	}
	return netPrice(saves, p.Leaving(before, saves), p)
}

// suggestionTexts have a sentence for each reason, for one item about a subject and for several.
var suggestionTexts = map[protocol.SuggestionReason]struct {
	text string
	risk protocol.SuggestionRisk
}{
	protocol.SuggestSupersededRead:  {"A later read has the same lines of %s.", protocol.RiskLow},
	protocol.SuggestStaleRead:       {"%s was changed after it was read.", protocol.RiskMedium},
	protocol.SuggestDuplicateOutput: {"A later output has the same text: %s.", protocol.RiskLow},
	protocol.SuggestFailedAttempt:   {"It failed, and succeeded later: %s.", protocol.RiskLow},
	protocol.SuggestRepeatedCommand: {"It ran again later: %s.", protocol.RiskLow},
	protocol.SuggestUncitedOutput:   {"No later answer or patch uses %s.", protocol.RiskMedium},
	protocol.SuggestOldOutput:       {"No recent answer or patch uses %s.", protocol.RiskMedium},
	protocol.SuggestDescribedImage:  {"An answer followed %s.", protocol.RiskMedium},
	protocol.SuggestOldReasoning:    {"The turns of %s have ended.", protocol.RiskLow},
}

func textOf(f *economy.Finding, items []economy.Candidate, h *history.History) (string, protocol.SuggestionRisk) {
	about := "`" + f.Subject + "`"
	if f.Subject == "" {
		about = countedItems(len(items), h.Category(items[0].Place))
	}
	t := suggestionTexts[f.Reason]
	return fmt.Sprintf(t.text, about), t.risk
}

func countedItems(n int, category protocol.ContextCategory) string {
	noun := "output"
	if category == protocol.CategoryReasoning {
		noun = "part of reasoning"
	}
	if n == 1 {
		return "1 " + noun
	}
	if category == protocol.CategoryReasoning {
		return fmt.Sprintf("%d parts of reasoning", n)
	}
	return fmt.Sprintf("%d outputs", n)
}

// notifySuggestions notifies clients of suggestions that pay, at the end of a turn.
func (s *step) notifySuggestions(t *turn) {
	r := &t.env.Economy
	if r.Mode != protocol.EconomySuggest || s.state.Sent.Requests == 0 {
		return
	}
	answer := s.suggest(r, cacheOf(&t.env.Provider), nil)
	unselected := func(g protocol.ContextSuggestion) bool { return !g.Selected }
	answer.Suggestions = slices.DeleteFunc(answer.Suggestions, unselected)
	if answer.NetPrice.TokensSaved*100 < answer.PromptTokens*int64(r.MinPercent) || len(answer.Suggestions) == 0 {
		return
	}
	s.notify(protocol.ContextSuggestionsNotification{ThreadID: s.state.ID, Revision: answer.Revision,
		Suggestions: answer.Suggestions, NetPrice: answer.NetPrice})
}
