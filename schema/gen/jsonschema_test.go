package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// document has the parts of a file that the tests read.
type document struct {
	Schema      string                     `json:"$schema"`
	Title       string                     `json:"title"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

func documents(t *testing.T) map[string]document {
	t.Helper()
	files, err := jsonFiles(collected(t))
	require.NoError(t, err)
	all := map[string]document{}
	for name, content := range files {
		var d document
		require.NoError(t, json.Unmarshal(content, &d), name)
		require.True(t, strings.HasSuffix(string(content), "}\n"), name)
		all[name] = d
	}
	return all
}

func TestFilesSayWhatTheyAre(t *testing.T) {
	for name, d := range documents(t) {
		require.Equal(t, draft, d.Schema, name)
		if name != bundle {
			require.Equal(t, "json/"+d.Title+".json", name)
		}
	}
}

func TestFilesHoldTheDefinitionsTheyNeed(t *testing.T) {
	all := documents(t)
	m := collected(t)
	require.Len(t, all[bundle].Definitions, len(m.definitions))
	require.Equal(t, []string{"ClientInfo", "InitializeCapabilities"},
		slices.Sorted(maps.Keys(all["json/InitializeParams.json"].Definitions)))
	require.Contains(t, all["json/TurnStartedNotification.json"].Definitions, "UserMessageItem",
		"through Turn and ThreadItem")
	require.Empty(t, all["json/ThreadClosedNotification.json"].Definitions)
}

func TestEveryDefinitionIsPartOfAMessage(t *testing.T) {
	m := collected(t)
	reached := map[string]*Node{}
	for _, root := range m.roots {
		m.addReachable(reached, ref(root))
	}
	for name := range m.definitions {
		require.Contains(t, reached, name, "no message holds it")
	}
}

func TestRootsAreListedOnce(t *testing.T) {
	roots := slices.Sorted(slices.Values(collected(t).roots))
	require.Equal(t, slices.Compact(slices.Clone(roots)), roots)
}

func TestBytesAreNotEscapedForHTML(t *testing.T) {
	content, err := indented(&Node{Description: "a < b & c", Properties: Properties{{"<", anything()}}})
	require.NoError(t, err)
	require.Equal(t, "{\n  \"description\": \"a < b & c\",\n  \"properties\": {\n    \"<\": {}\n  }\n}\n", string(content))
}

func TestKindsAreAWordOrAList(t *testing.T) {
	require.Equal(t, `{"type":"string"}`, text(t, kind("string")))
	require.Equal(t, `{"type":["string","null"]}`, text(t, nullable(kind("string"))))
}

func TestEmptyDefaultsAreWritten(t *testing.T) {
	require.Equal(t, `{"type":"array","default":[],"items":{}}`, text(t, withDefault(list(anything()), []string{})))
}
