package view

import (
	"iter"
	"math"

	"appserver/core/pure/history"
	"appserver/core/pure/page"
	"appserver/protocol"
)

const usagePage, maxUsagePage = 100, 1000

// Requests are the model requests of a thread, oldest first.
type Requests interface {
	// Requests returns the number of requests, Request and RequestID the i-th request and its id.
	Requests() int
	Request(i int) *protocol.StoredRequest
	RequestID(i int) string
	// FindRequest returns the index of the request with an id, or -1.
	FindRequest(id string) int
	// SavedIn returns the number of tokens that edits of the context kept out of a request.
	SavedIn(r *protocol.StoredRequest) int64
	// Spending returns the sums of the tokens: by model, of all models, and of what edits kept out.
	Spending() (byModel TokensByModel, all protocol.TokenUsageBreakdown, saved int64)
}

// TokensByModel are the sums of the tokens of models.
type TokensByModel = iter.Seq2[history.Model, protocol.TokenUsageBreakdown]

// Prices are ratios of prices of models.
type Prices interface {
	// CachedPriceRatio returns the price of a cached input token over that of another one.
	CachedPriceRatio(provider, model string) float64
	// OutputPriceRatio returns the price of an output token over that of an input token that is not cached,
	// or nil if it is not known.
	OutputPriceRatio(provider, model string) *float64
}

// UsagePage returns a page of the model requests, newest first. A cursor is the id of the last request of the
// page before. Without prices, nothing has a cost.
func UsagePage(r Requests, prices Prices, cursor *string, limit *uint32) (
	answer protocol.ThreadUsageListResponse, err *protocol.Error,
) {
	answer = protocol.ThreadUsageListResponse{Data: []protocol.ModelRequestUsage{}, Total: usageTotal(r, prices)}
	begin := page.Descending.Begin(r.Requests())
	if cursor != nil {
		last := r.FindRequest(*cursor)
		if last < 0 {
			return answer, errCursor("cursor", *cursor)
		}
		begin = page.Descending.Next(last)
	}
	indices, more := page.Descending.Indices(begin, r.Requests(), page.Size(limit, usagePage, maxUsagePage), nil)
	for _, i := range indices {
		answer.Data = append(answer.Data, usageOf(r, i, prices))
	}
	if more {
		answer.NextCursor = &answer.Data[len(answer.Data)-1].RequestID
	}
	return answer, nil
}

func usageTotal(r Requests, prices Prices) protocol.ModelRequestTotal {
	byModel, all, saved := r.Spending()
	total := protocol.ModelRequestTotal{Requests: r.Requests(), Tokens: all}
	var cost float64
	for m, tokens := range byModel {
		total.Saved = &saved
		if prices != nil {
			cost += costOf(m, tokens, prices)
			total.Cost = &cost
		}
	}
	cost = rounded(cost)
	return total
}

func usageOf(s Requests, i int, prices Prices) protocol.ModelRequestUsage {
	r := s.Request(i)
	u := protocol.ModelRequestUsage{
		RequestID: s.RequestID(i), TurnID: protocol.OrNil(r.TurnID), Kind: r.Kind, Provider: r.Provider, Model: r.Model,
		Effort: protocol.OrNil(r.Effort), Revision: r.Revision, Items: r.Items,
		StartedAtMs: r.StartedAt, DurationMs: r.DurationMs, Error: protocol.OrNil(r.Error),
	}
	if r.Usage != nil {
		u.Tokens, u.Saved = new(r.Usage.Breakdown()), new(s.SavedIn(r))
	}
	if r.Usage != nil && prices != nil {
		u.Cost = new(rounded(costOf(history.Model{Provider: r.Provider, Name: r.Model}, *u.Tokens, prices)))
	}
	return u
}

// costOf returns the price of tokens in units of an input token that is not cached.
func costOf(m history.Model, t protocol.TokenUsageBreakdown, prices Prices) float64 {
	cached := float64(t.CachedInputTokens)
	cost := float64(t.InputTokens) - cached + cached*prices.CachedPriceRatio(m.Provider, m.Name) +
		(history.CacheWritePrice-1)*float64(t.CacheWriteInputTokens)
	if ratio := prices.OutputPriceRatio(m.Provider, m.Name); ratio != nil {
		cost += float64(t.OutputTokens) * *ratio
	}
	return cost
}

func rounded(cost float64) float64 { return math.Round(cost*100) / 100 }
