package history_test

import (
	"strings"
	"testing"

	"appserver/core/pure/history"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// wideTokens counts as providers do not: a token for each character.
type wideTokens struct{}

func (wideTokens) Known(string) bool { return false }

func (wideTokens) Count(_, text string) int { return len([]rune(text)) }

// TestCostOfEachScriptFollowsTheReports has a provider that counts Latin text as this server does, another script
// otherwise, and something for each request. After some reports, the cost of an item is that of the provider.
func TestCostOfEachScriptFollowsTheReports(t *testing.T) {
	english, go1 := strings.Repeat("The quick brown fox. ", 40), strings.Repeat("func f() error { return nil }\n", 30)
	for name, kind := range map[string]struct {
		text   string
		factor float64
	}{
		"Chinese": {strings.Repeat("请打开文件并修改这个函数。", 60), 0.7},
		"Russian": {strings.Repeat("Откройте файл и измените функцию. ", 30), 1.3},
		"Korean":  {strings.Repeat("파일을 열고 함수를 수정하세요. ", 40), 0.6},
		"Hindi":   {strings.Repeat("फ़ाइल खोलें और फ़ंक्शन बदलें। ", 30), 2},
		"Latin":   {english, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history.History{}
			h.Configure(history.Options{Tokenizer: wideTokens{}})
			cost := func(text string) float64 {
				c := h.Count(text)
				return float64(c.All-c.Other) + kind.factor*float64(c.Other)
			}
			counted, reported := h.Count(strings.Repeat(english, 8)), 0.0
			reported = cost(strings.Repeat(english, 8)) + 300
			for _, text := range []string{english, kind.text, go1, english + kind.text, english, kind.text, go1, english} {
				counted, reported = counted.Plus(h.Count(text)), reported+cost(text)
				h.Calibrate("", &protocol.TokenCountInfo{
					CountedInputTokens: counted.All, CountedOtherTokens: counted.Other,
					LastTokenUsage: protocol.StoredUsage{InputTokens: int64(reported)},
				})
				require.InDelta(t, reported, h.FixedTokens(counted), 1, "the count equals the last report")
			}
			for _, text := range []string{english, go1, kind.text} {
				require.InEpsilon(t, cost(text), h.Scaled(h.Count(text)), 0.07, text[:20])
			}
		})
	}
}

// TestOneReportGivesOneFactor has no second report that could tell scripts apart.
func TestOneReportGivesOneFactor(t *testing.T) {
	h := &history.History{}
	h.Calibrate("", &protocol.TokenCountInfo{CountedInputTokens: 1000, CountedOtherTokens: 400,
		LastTokenUsage: protocol.StoredUsage{InputTokens: 800}})
	require.InDelta(t, 0.8, h.Scale().Latin, 1e-9)
	require.InDelta(t, 0.8, h.Scale().Other, 1e-9)
}
