package core

import (
	"math"

	"appserver/core/pure/economy"
	"appserver/protocol"
)

// netPrice returns the price of an edit that saves tokens in each request. The tokens that leave the
// provider's cache are read anew and written again once, and a saved token costs the price of a cached one each time.
func netPrice(saved, leaving int64, by *economy.Prices) protocol.ContextNetPrice {
	p := protocol.ContextNetPrice{TokensSaved: saved, TokensLeavingCache: leaving, CachedPriceRatio: by.Ratio}
	const rounding = 1e-9 // of the division
	requests := math.Ceil(by.Cost(leaving)/(float64(saved)*by.Ratio) - rounding)
	switch {
	case saved <= 0:
	case leaving == 0:
		p.RequestsToPayBack = new(int64(0))
	case requests < 1<<53: // a ratio of 0 has no limit
		p.RequestsToPayBack = new(int64(requests))
	}
	return p
}
