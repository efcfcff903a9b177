package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/view"
)

// TestOccurrencesAreFoundInAllForms searches messages of several parts, with escapes, and of older files.
func TestOccurrencesAreFoundInAllForms(t *testing.T) {
	d := newDiary()
	d.begin()
	for _, item := range []string{
		`{"type":"UserMessage","id":"parts","content":[{"type":"text","text":"a nee"},{"type":"text","text":"dle"}]}`,
		`{"type":"AgentMessage","id":"joined","content":[{"type":"Text","text":"a nee"},{"type":"Text","text":"dle"}]}`,
		`{"type":"AgentMessage","id":"escaped","content":[{"type":"Text","text":"\u004eEEDLE"}]}`,
		`{"type":"AgentMessage","id":"control","content":[{"type":"Text","text":"\u001bNeedle\/\"x"}]}`,
		`{"type":"Reasoning","id":"other","summary_text":["needle"],"raw_content":[]}`,
	} {
		d.line(func(l *line) { d.ItemCompleted(l) }, `{"type":"item_completed","turn_id":"u-1","item":%s}`, item)
	}
	d.end()
	d.line(func(l *line) { d.LegacyEvent("user_message", l) }, `{"type":"user_message","message":"old needle"}`)
	for term, want := range map[string][]string{
		"needle": {"joined", "escaped", "control", "item-1"}, "NEE\ndle": {"parts"}, `dle/"`: {"control"},
		"needles": nil, "text": nil,
	} {
		page, err := d.thread().OccurrencesPage(view.OccurrencesQuery{Term: term})
		require.Nil(t, err)
		var found []string
		for _, o := range page.Data {
			found = append(found, o.ItemID)
		}
		require.Equal(t, want, found, term)
	}
}
