package view_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/core/pure/view"
	"appserver/protocol"
)

// requestLog is a list of model requests. Each saves as many tokens as its revision.
type requestLog []protocol.StoredRequest

func (l requestLog) Requests() int                           { return len(l) }
func (l requestLog) Request(i int) *protocol.StoredRequest   { return &l[i] }
func (l requestLog) RequestID(i int) string                  { return "m" + strconv.Itoa(i) }
func (l requestLog) FindRequest(string) int                  { return -1 }
func (l requestLog) SavedIn(r *protocol.StoredRequest) int64 { return r.Revision }
func (l requestLog) Spending() (view.TokensByModel, protocol.TokenUsageBreakdown, int64) {
	return func(yield func(history.Model, protocol.TokenUsageBreakdown) bool) {
		for _, r := range l {
			if r.Usage != nil && !yield(history.Model{Provider: r.Provider, Name: r.Model}, r.Usage.Breakdown()) {
				return
			}
		}
	}, protocol.TokenUsageBreakdown{}, 7
}

// prices are the prices of the provider half, and of the model priced.
type prices struct{}

func (prices) CachedPriceRatio(provider, _ string) float64 {
	if provider == "half" {
		return 0.5
	}
	return 0.1
}

func (prices) OutputPriceRatio(_, model string) *float64 {
	if model == "priced" {
		return new(4.0)
	}
	return nil
}

func TestUsageCostsWhatItsTokensCostByTheirModels(t *testing.T) {
	used := &protocol.StoredUsage{InputTokens: 1000, CachedInputTokens: 801, OutputTokens: 10, TotalTokens: 1010}
	log := requestLog{
		{Provider: "tenth", Model: "m", Revision: 3, Usage: used}, // 199 + 80.1
		{Provider: "half", Model: "priced", Usage: used},          // 199 + 400.5 + 40
		{Provider: "half", Model: "m"},                            // failed
		{Provider: "tenth", Model: "m", Usage: &protocol.StoredUsage{InputTokens: 1000, CachedInputTokens: 600,
			CacheWriteInputTokens: 400, TotalTokens: 1000}}, // 400 + 60 + 100
	}
	page, err := view.UsagePage(log, prices{}, nil, nil)
	require.Nil(t, err)
	require.Equal(t, new(560.0), page.Data[0].Cost)
	require.Nil(t, page.Data[1].Cost)
	require.Nil(t, page.Data[1].Saved)
	require.Equal(t, new(639.5), page.Data[2].Cost)
	require.Equal(t, new(279.1), page.Data[3].Cost)
	require.Equal(t, new(int64(3)), page.Data[3].Saved)
	require.Equal(t, new(1478.6), page.Total.Cost)
	require.Equal(t, new(int64(7)), page.Total.Saved)
}

func TestUsageHasNoCostWithoutPricesOrTokens(t *testing.T) {
	page, err := view.UsagePage(requestLog{{Model: "m"}}, prices{}, nil, nil)
	require.Nil(t, err)
	require.Nil(t, page.Total.Cost)
	require.Nil(t, page.Total.Saved)
	used := requestLog{{Model: "m", Usage: &protocol.StoredUsage{InputTokens: 5, TotalTokens: 5}}}
	page, err = view.UsagePage(used, nil, nil, nil)
	require.Nil(t, err)
	require.Nil(t, page.Total.Cost)
	require.Nil(t, page.Data[0].Cost)
	require.NotNil(t, page.Data[0].Saved)
}
