package modeltable

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const openAI = "https://api.openai.com/v1"

// TestTheProgramHasTheTable compares models.tsv with the file in the program, and bounds its size.
func TestTheProgramHasTheTable(t *testing.T) {
	text, err := os.ReadFile("models.tsv")
	require.NoError(t, err)
	z, err := gzip.NewReader(strings.NewReader(packed))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, string(text), string(unpacked), "run make models")
	require.Less(t, len(packed), 60_000)
	for _, words := range []string{"https://models.dev/api.json, as of 20", "MIT licence", "do not edit"} {
		require.Contains(t, string(text[:500]), words)
	}
}

// TestRowsAreSane: no row has a window or a price that no model has.
func TestRowsAreSane(t *testing.T) {
	rows, priced := 0, 0
	for _, p := range load() {
		require.NotEmpty(t, p.addresses)
		for name, row := range p.rows {
			rows++
			require.NotContains(t, name, " ")
			require.True(t, row.Window == 0 || row.Window >= 256 && row.Window <= 100_000_000, "%s: %d", name, row.Window)
			for _, price := range []*float64{row.Input, row.CachedInput, row.Output} {
				require.True(t, price == nil || *price >= 0 && *price <= 10_000, name)
			}
			if row.Input != nil {
				priced++
			}
		}
	}
	require.Greater(t, rows, 800)
	require.Greater(t, priced, 500)
}

// TestNamesFindTheirRow by the rules of the package, at the address of the maker and elsewhere.
func TestNamesFindTheirRow(t *testing.T) {
	const gateway = "https://gateway.example.com/v1"
	for _, tt := range []struct {
		address, model string
		window         int64
		priced         bool
	}{
		{openAI, "gpt-5", 272_000, true},
		{openAI, "GPT-5", 272_000, true},
		{openAI, "gpt-5-2025-08-07", 272_000, true},
		{openAI, "gpt-4.1-mini", 1_047_576, true},
		{openAI, "gpt-4.1-mini-2025-04-14", 1_047_576, true},
		{"https://api.openai.com:443/v1/", "gpt-4.1", 1_047_576, true},
		{"https://mine.openai.azure.com/openai", "gpt-4.1", 1_047_576, true},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "models/gemini-2.5-pro", 1_048_576, true},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", 1_048_576, true},
		{"https://api.anthropic.com/v1", "claude-sonnet-4-20250514", 200_000, true},
		{"https://api.anthropic.com/v1", "claude-sonnet-4@20250514", 200_000, true},
		{"https://api.anthropic.com/v1", "claude-sonnet-4", 200_000, true},
		{"https://api.anthropic.com/v1", "claude-sonnet-4.5", 200_000, true},
		{gateway, "gpt-5", 272_000, false},
		{gateway, "openai/gpt-5", 272_000, false},
		{gateway, "openai/gpt-5-2025-08-07", 272_000, false},
		{gateway, "anthropic/claude-sonnet-4", 200_000, false},
		{gateway, "anthropic/claude-sonnet-4.5", 200_000, false},
		{gateway, "models/gemini-2.5-pro", 1_048_576, false},
		{gateway, "google/gemini-2.5-pro", 1_048_576, false},
		{"", "gpt-5", 272_000, false},
	} {
		row, ok := Find(tt.address, tt.model)
		require.True(t, ok, "%s %s", tt.address, tt.model)
		require.Equal(t, tt.window, row.Window, "%s %s", tt.address, tt.model)
		require.Equal(t, tt.priced, row.Input != nil && row.Output != nil, "%s %s", tt.address, tt.model)
	}
}

// TestUnknownNamesHaveNoRow: a similar name is another model.
func TestUnknownNamesHaveNoRow(t *testing.T) {
	for _, tt := range []struct{ address, model string }{
		{openAI, "gpt-5-next"}, {openAI, "gpt-5-turbo-2031"}, {openAI, "gpt"}, {openAI, ""}, {openAI, "-latest"},
		{openAI, "me/gpt-5"}, {openAI, "claude-sonnet-4"}, {openAI, "gpt-5:free"}, {openAI, "gpt-5-20250807x"},
		{"https://gateway.example.com", "me/gpt-5"}, {"https://gateway.example.com", "anthropic/gpt-5"},
		{"https://gateway.example.com", "a/openai/gpt-5"}, {"https://gateway.example.com", "/gpt-5"},
		{"https://gateway.example.com", "openai/"}, {"https://gateway.example.com", "my-gpt-5"},
		{"%zz", "openai//gpt-5"},
	} {
		_, ok := Find(tt.address, tt.model)
		require.False(t, ok, "%s %s", tt.address, tt.model)
	}
}

// TestPricesAreThoseOfTheAddress: a plan with a monthly price at the same host has none.
func TestPricesAreThoseOfTheAddress(t *testing.T) {
	row, ok := Find("https://api.z.ai/api/paas/v4", "glm-4.6")
	require.True(t, ok)
	require.NotNil(t, row.Input)
	row, ok = Find("https://api.z.ai/api/coding/paas/v4", "glm-4.6")
	require.True(t, ok)
	require.Nil(t, row.Input)
	row, ok = Find("https://api.openai.com.example.com/v1", "gpt-5")
	require.True(t, ok)
	require.Nil(t, row.Input)
}
