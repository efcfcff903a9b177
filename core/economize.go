package core

import (
	"fmt"
	"slices"
	"time"

	"appserver/core/pure/economy"
	"appserver/core/pure/history"
	"appserver/protocol"
)

func cacheOf(p *ProviderInfo) CacheFacts { return CacheFacts{p.CachedPriceRatio, p.CacheRetention} }

const (
	// defaultKeepOutputs is the number of the last outputs that stay if the rules have none.
	defaultKeepOutputs = 10
	// maxExpected bounds the number of further requests that a thread is expected to make.
	maxExpected = 500
	// maxLoss is the share of the cost of a session that automatic edits may lose.
	maxLoss = 0.01
	// checkEvery is the growth of the prompt after which edits are looked for again, in tokens.
	checkEvery = 4000
)

// prices returns the facts that the price of an edit depends on.
func (s *step) prices(c CacheFacts) economy.Prices {
	return economy.Prices{Cached: s.cachedPrefix(c.Retention), Ratio: c.Ratio, Write: s.writePrice(),
		Expected: min(max(s.state.Sent.Requests, 1), maxExpected)}
}

// writePrice returns the price of a token that is written to the provider's cache over that of an uncached one, or 0
// if the model's provider has not reported writes.
func (s *step) writePrice() float64 {
	model := history.Model{Provider: s.state.Settings.Provider, Name: s.state.Settings.Model}
	for _, m := range s.state.Spent {
		if m.Model == model && m.Tokens.CacheWriteInputTokens > 0 {
			return history.CacheWritePrice
		}
	}
	return 0
}

// cachedPrefix returns the number of tokens at the begin of the next request that the provider has
// in its cache: those of the last request, unless its cache is cold. A provider that has never
// reported cached tokens has none. Before the first report it has all.
func (s *step) cachedPrefix(retention time.Duration) int64 {
	last := &s.state.Sent
	switch {
	case last.Requests == 0:
		return s.PromptTokens()
	case last.Cached == 0 && s.state.Usage.Last.CachedInputTokens == 0, s.cacheIsCold(retention):
		return 0
	}
	return last.Input
}

// cacheIsCold reports whether the provider has dropped the prefix of the last request, or the next one
// begins with another prefix.
func (s *step) cacheIsCold(retention time.Duration) bool {
	last := &s.state.Sent
	idle := time.Duration(s.Now.UnixMilli()-last.At) * time.Millisecond
	return idle > retention || last.Session != s.state.Session ||
		last.Provider != s.state.Settings.Provider || last.Model != s.state.Settings.Model
}

// economize excludes items before a model request if that pays.
func (s *step) economize() {
	r := &s.active.env.Economy
	if r.Mode != protocol.EconomyAuto || s.state.Sent.Requests == 0 {
		return
	}
	facts := cacheOf(&s.active.env.Provider)
	cold := s.cacheIsCold(facts.Retention)
	s.economized = min(s.economized, s.state.Sent.Input) // an edit or a compaction can have made the prompt smaller
	if !cold && s.state.Sent.Input < s.economized+checkEvery {
		return
	}
	s.economized = s.state.Sent.Input
	p := s.prices(facts)
	findings := s.findings(r, true)
	candidates := s.candidates(findings, true)
	chosen, leaving, saves := p.Choose(candidates, s.allowance(&p))
	if saves == 0 || saves*100 < s.PromptTokens()*int64(r.MinPercent) {
		return
	}
	line := s.economyLine(chosen)
	line.Economy = &protocol.StoredEconomy{Requests: s.state.Sent.Requests, LeftCache: leaving}
	line.Reason = reasonOfEconomy(&p, netPrice(saves, leaving, &p))
	s.contextChanged(s.commitEdit(line))
}

func reasonOfEconomy(p *economy.Prices, net protocol.ContextNetPrice) string {
	if net.TokensLeavingCache == 0 {
		return "economy: the provider's cache has nothing of what changes"
	}
	return fmt.Sprintf("economy: pays back after %d of about %d further requests", *net.RequestsToPayBack, p.Expected)
}

// findings returns the groups of items that requests can do without. expire lets outputs leave that messages
// quoted some time ago.
func (s *step) findings(r *EconomyRules, expire bool) []economy.Finding {
	keep := r.KeepOutputs
	if keep == 0 {
		keep = defaultKeepOutputs
	}
	return economy.Find(s.context, economy.Options{Cwd: s.state.Settings.Cwd, KeepOutputs: keep,
		Skip: s.context.BroughtBack(), QuotesExpire: expire})
}

// candidates returns the items that can be taken out. With noted, their placeholders get a note.
func (s *step) candidates(findings []economy.Finding, noted bool) []economy.Candidate {
	overhead := s.PromptTokens() - s.context.SentSum()
	return economy.Candidates(s.context, findings, overhead, noted)
}

// economyLine returns the edit that excludes items, with notes in their placeholders.
func (s *step) economyLine(chosen []economy.Candidate) protocol.StoredContextEdit {
	places, notes := make([]int, len(chosen)), map[string]string{}
	for i, c := range chosen {
		places[i] = c.Place
		notes[s.context.Item(c.Place).ID()] = c.Note
	}
	line := s.context.Encode(history.Plan{Op: protocol.EditExclude, Places: slices.Sorted(slices.Values(places))})
	line.Notes = make([]string, len(line.IDs))
	for i, id := range line.IDs {
		line.Notes[i] = notes[id]
	}
	return line
}

// allowance returns the cost that an automatic edit may have, in tokens at the full price: what edits have
// saved since the last trim or compaction, and a share of the cost of the session.
func (s *step) allowance(p *economy.Prices) float64 {
	sent := &s.state.Sent
	total := float64(sent.Uncached) + p.Ratio*float64(sent.Cached)
	since := int64(-1)
	if last := s.context.LastTrim(); last != nil {
		since = last.Ordinal()
	}
	balance := 0.0
	for i := range s.context.Journal() {
		e := &s.context.Journal()[i]
		if made := e.Economy(); made != nil && !e.Undone && e.Ordinal() > since {
			balance += float64(e.SavedTokens)*p.Ratio*float64(sent.Requests-made.Requests) - p.Cost(made.LeftCache)
		}
	}
	return balance + maxLoss*total
}
