package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryKeepsTheItemsBehindAnEncryptedCompaction resumes a thread whose compaction only
// its provider can read: the context has the original items, and the client is warned.
func TestBinaryKeepsTheItemsBehindAnEncryptedCompaction(t *testing.T) {
	t.Parallel()
	p := newProvider(t, counting(1)...)
	home := p.home(t)
	id := putRollouts(t, home)["0.146.0"]
	c := startServer(t, home)
	c.initialize()
	c.call("thread/resume", object{"threadId": id, "model": "test", "modelProvider": "test", "cwd": home})
	items := c.get("context/getItems", object{"threadId": id}).Get("items")
	require.Contains(t, strings.Join(c.warnings(), "\n"), "The 6 items before it are in the context again.")
	require.Equal(t, "r3 r4 r6 r7 r14 r16 r25 r28", strings.Join(itemIDs(items, "#.id"), " "))
	c.call("context/setInclusion", object{"threadId": id, "ids": []string{"r14"}, "included": false})
	require.Equal(t, "completed", c.turn(id, "third").Status)
	sent := p.asked()[0].Body
	require.Contains(t, sent, "never y.txt")
	require.Contains(t, sent, "no such file x.txt")
	require.NotContains(t, sent, "x.txt is missing.")
	c.close()
}

// TestBinaryExtractsWhatDoesNotFitBehindAnEncryptedCompaction does so with a small window: an
// extract takes the place of the items, until it is undone.
func TestBinaryExtractsWhatDoesNotFitBehindAnEncryptedCompaction(t *testing.T) {
	t.Parallel()
	p := newProvider(t, counting(1)...)
	home := p.home(t)
	id := putRollouts(t, home)["0.146.0"]
	c := startServer(t, home, "-c", "model_auto_compact_token_limit=900")
	c.initialize()
	c.call("thread/resume", object{"threadId": id, "model": "test", "modelProvider": "test"})
	items := c.get("context/getItems", object{"threadId": id}).Get("items")
	require.Contains(t, strings.Join(c.warnings(), "\n"), "an extract of them stands in their place")
	require.Equal(t, 1, len(items.Get(`#(category=="summary")#`).Array()), items.Raw)
	require.Contains(t, c.get("context/getPrompt", object{"threadId": id}).Raw, "sed -i s/a/b/ x.txt (exit 1)")
	c.call("context/undo", object{"threadId": id})
	require.Contains(t, itemIDs(c.get("context/getItems", object{"threadId": id}).Get("items"), "#.id"), "r14")
	c.close()
}

func itemIDs(items gjson.Result, path string) (ids []string) {
	for _, id := range items.Get(path).Array() {
		ids = append(ids, id.Str)
	}
	return ids
}

// TestBinaryUsesTheConfiguredModelIfNoProviderIsRecorded resumes a thread whose rollout names
// a model without its provider.
func TestBinaryUsesTheConfiguredModelIfNoProviderIsRecorded(t *testing.T) {
	t.Parallel()
	p := newProvider(t, counting(1)...)
	home := p.home(t)
	id := putRollouts(t, home)["0.34.0"]
	c := startServer(t, home)
	c.initialize()
	require.Equal(t, "gpt-5-codex", c.get("thread/read", object{"threadId": id}).Get("thread.model").Str)
	require.Equal(t, "test", c.get("thread/resume", object{"threadId": id, "cwd": home}).Get("model").Str)
	require.Equal(t, "completed", c.turn(id, "go on").Status)
	require.Contains(t, strings.Join(c.warnings(), "\n"), "names the model gpt-5-codex, but not its provider")
	require.Equal(t, "test", gjson.Get(p.asked()[0].Body, "model").Str)
	c.close()
}
