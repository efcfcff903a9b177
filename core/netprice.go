package core

import (
	"math"

	"appserver/protocol"
)

// netPrice returns the price of an edit that saves tokens in each request. The tokens that leave the
// provider's cache cost their full price once, and a saved token the price of a cached one each time.
func netPrice(saved, leaving int64, ratio float64) protocol.ContextNetPrice {
	p := protocol.ContextNetPrice{TokensSaved: saved, TokensLeavingCache: leaving, CachedPriceRatio: ratio}
	const rounding = 1e-9 // of the division
	requests := math.Ceil(float64(leaving)*(1-ratio)/(float64(saved)*ratio) - rounding)
	switch {
	case saved <= 0:
	case leaving == 0:
		p.RequestsToPayBack = new(int64(0))
	case requests < 1<<53: // a ratio of 0 has no limit
		p.RequestsToPayBack = new(int64(requests))
	}
	return p
}
