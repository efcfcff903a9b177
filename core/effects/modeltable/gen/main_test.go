package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// catalogue returns a catalogue with models of the provider openai.
func catalogue(t *testing.T, models string) []byte {
	providers := map[string]json.RawMessage{}
	for _, s := range sources() {
		providers[s.id] = json.RawMessage(`{"models":{}}`)
	}
	providers["openai"] = json.RawMessage(`{"models":` + models + `}`)
	text, err := json.Marshal(providers)
	require.NoError(t, err)
	return text
}

// TestTheTableHasTheFactsOfTheCatalogue: the window is that of the input if there is one, and models without text, and
// prices that are all zero, are left out.
func TestTheTableHasTheFactsOfTheCatalogue(t *testing.T) {
	text, err := table(catalogue(t, `{
		"b":{"reasoning":true,"tool_call":true,"modalities":{"input":["text","image"],"output":["text"]},
			"limit":{"context":400000,"input":272000,"output":128000},"cost":{"input":1.25,"output":10,"cache_read":0.125}},
		"a":{"modalities":{"input":["text"],"output":["text"]},"limit":{"context":8192},"cost":{"input":0,"output":0}},
		"c":{"modalities":{"input":["text"],"output":["text"]},"limit":{"context":0}},
		"gpt-5-chat-latest":{"modalities":{"output":["text"]},"limit":{"context":400000}},
		"painter":{"modalities":{"input":["text"],"output":["image"]},"limit":{"context":1}},
		"#x":{"modalities":{"output":["text"]}}, "t\tb":{"modalities":{"output":["text"]}}}`), "2026-01-02")
	require.NoError(t, err)
	require.Contains(t, text, "as of 2026-01-02.")
	require.Contains(t, text, "@openai\tapi.openai.com\topenai\na\t8192\t\t\t\t\nb\t272000\ttir\t1.25\t0.125\t10\nc\t\t\t\t\t\n"+
		"gpt-5-chat-latest\t128000\t\t\t\t\n@anthropic")
}

// TestAFileCanBeTheSource without a network. Wrong ones leave the table as it is.
func TestAFileCanBeTheSource(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "api.json")
	require.NoError(t, os.WriteFile(file, catalogue(t, `{"a":{"modalities":{"output":["text"]},"limit":{"context":5000}}}`), 0o600))
	require.NoError(t, run(file, "2026-01-02", dir))
	text, err := os.ReadFile(filepath.Join(dir, "models.tsv"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\na\t5000\t")
	for _, wrong := range []string{"", "<html>", "{}", `{"openai":{}}`} {
		require.NoError(t, os.WriteFile(file, []byte(wrong), 0o600))
		require.Error(t, run(file, "2026-01-02", dir))
	}
	require.Error(t, run(filepath.Join(dir, "none"), "2026-01-02", dir))
	require.Error(t, run(file, "yesterday", dir))
	again, err := os.ReadFile(filepath.Join(dir, "models.tsv"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(text)), strings.TrimSpace(string(again)))
}
