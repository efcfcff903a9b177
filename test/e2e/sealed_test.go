package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestEncryptedCompactionKeepsOriginalItems resumes a thread with a compaction that only its
// provider can read. The context has the original items, and the client is warned.
func TestEncryptedCompactionKeepsOriginalItems(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(1)...)
	home := p.Home(t)
	id := apptest.PutRollouts(t, home)["0.146.0"]
	c := apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": id, "model": "test", "modelProvider": "test", "cwd": home})
	items := c.CallJSON("context/getItems", apptest.Object{"threadId": id}).Get("items")
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "The 6 items before it are in the context again.")
	require.Equal(t, "r3 r4 r6 r7 r14 r16 r20.0 r20.1 r25 r28", strings.Join(itemIDs(items, "#.id"), " "))
	require.Equal(t, "r20.0 r20.1", strings.Join(itemIDs(items, "#(inPrompt==false)#.id"), " "))
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{"r14"}, "included": false})
	require.Equal(t, "completed", c.Turn(id, "third").Status)
	sent := p.Requests()[0].Body
	require.Contains(t, sent, "never y.txt")
	require.Contains(t, sent, "no such file x.txt")
	require.NotContains(t, sent, "x.txt is missing.")
	c.Close()
}

// TestEncryptedCompactionInSmallWindowUsesExtract replaces the original items by an extract, until
// it is undone.
func TestEncryptedCompactionInSmallWindowUsesExtract(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(1)...)
	home := p.Home(t)
	id := apptest.PutRollouts(t, home)["0.146.0"]
	c := apptest.StartServer(t, home, "-c", "model_auto_compact_token_limit=900")
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": id, "model": "test", "modelProvider": "test"})
	items := c.CallJSON("context/getItems", apptest.Object{"threadId": id}).Get("items")
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "an extract of them stands in their place")
	require.Equal(t, 1, len(items.Get(`#(category=="summary")#`).Array()), items.Raw)
	require.Contains(t, c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw, "sed -i s/a/b/ x.txt (exit 1)")
	c.Call("context/undo", apptest.Object{"threadId": id})
	require.Contains(t, itemIDs(c.CallJSON("context/getItems", apptest.Object{"threadId": id}).Get("items"), "#.id"),
		"r14")
	c.Close()
}

// putSealed writes a rollout into a home and returns the thread's id. The provider sealing
// encrypted its compaction as an item of a type.
func putSealed(t *testing.T, home, kind string) string {
	text := strings.NewReplacer(`"model_provider":"openai"`, `"model_provider":"sealing"`, `{"type":"compaction",`,
		`{"type":"`+kind+`","id":"cmp_1",`).Replace(apptest.Rollouts(t)["0.146.0"])
	require.Contains(t, text, `"model_provider":"sealing"`)
	require.Contains(t, text, kind+`","id":"cmp_1"`)
	id := gjson.Get(text, "payload.id").Str
	dir := filepath.Join(home, "sessions/2026/11/20")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+id+".jsonl"), []byte(text), 0o600))
	return id
}

const (
	sealedForm    = "r20.0 r20.1"
	originalItems = "r3 r4 r6 r7 r14 r16"
)

// formsSent checks which form of the items before the compaction is in the prompt.
func formsSent(c *apptest.Client, thread, sent, aside string) {
	c.T.Helper()
	items := c.CallJSON("context/getItems", apptest.Object{"threadId": thread}).Get("items")
	in := " " + strings.Join(itemIDs(items, "#(inPrompt==true)#.id"), " ") + " "
	out := " " + strings.Join(itemIDs(items, "#(inPrompt==false)#.id"), " ") + " "
	require.Contains(c.T, in, " "+sent+" ")
	require.Contains(c.T, out, " "+aside+" ")
	for _, id := range strings.Fields(originalItems) {
		if i := items.Get(`#(id=="` + id + `")`); i.Exists() && !i.Get("inPrompt").Bool() {
			require.Equal(c.T, "compactionSent", i.Get("notSentReason").Str)
		}
	}
}

// TestEncryptedCompactionGoesToItsProvider continues a thread with the provider of its compaction,
// which gets the compaction, with another one, which gets the original items, and with the first
// again.
func TestEncryptedCompactionGoesToItsProvider(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for _, kind := range []string{"compaction", "compaction_summary", "context_compaction"} {
		t.Run(kind, func(t *testing.T) {
			p := apptest.NewProvider(t, countingAnswers(6)...)
			home := switchHome(p, t)
			id := putSealed(t, home, kind)
			c := resumeWith(t, home, id, "sealing", "gpt-5.5")
			formsSent(c, id, sealedForm, originalItems)
			require.NotContains(t, strings.Join(c.Warnings(), "\n"), "encrypted")
			c.Turn(id, "third")
			sent := gjson.Parse(p.Requests()[0].Body)
			sentKind := strings.TrimSuffix(kind, "_summary")
			compaction := sent.Get(`input.#(encrypted_content=="bm90IGZvciB1cw==")`)
			require.JSONEq(t, `{"type":"`+sentKind+`","encrypted_content":"bm90IGZvciB1cw=="}`, compaction.Raw)
			require.Equal(t, "Edit x.txt, never y.txt", sent.Get("input.0.content.0.text").Str)
			require.NotContains(t, sent.Raw, "no such file x.txt")
			c.Close()

			c = resumeWith(t, home, id, "plain", "test")
			formsSent(c, id, originalItems, sealedForm)
			require.Contains(t, strings.Join(c.Warnings(), "\n"), "The 6 items before it are in the context again.")
			reason := c.CallJSON("context/getItems", apptest.Object{"threadId": id}).Get(`items.#(id=="r20.1").notSentReason`).Str
			require.Equal(t, "otherProvider", reason)
			c.Turn(id, "fourth")
			require.Contains(t, p.Requests()[1].Body, "no such file x.txt")
			require.NotContains(t, p.Requests()[1].Body, "bm90IGZvciB1cw==")
			c.Close()

			c = resumeWith(t, home, id, "sealing", "gpt-5.5")
			formsSent(c, id, sealedForm, originalItems)
			c.Turn(id, "fifth")
			require.Contains(t, p.Requests()[2].Body, "bm90IGZvciB1cw==")
			require.NotContains(t, p.Requests()[2].Body, "no such file x.txt")
			c.Close()
		})
	}
}

// TestEditsAroundEncryptedCompaction excludes the compaction, trims, compacts and undoes, with its
// provider and with another.
func TestEditsAroundEncryptedCompaction(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(6)...)
	home := switchHome(p, t)
	id := putSealed(t, home, "compaction")
	c := resumeWith(t, home, id, "sealing", "gpt-5.5")
	usage := func() int64 {
		return c.CallJSON("context/getUsage", apptest.Object{"threadId": id}).Get("usage.promptTokens").Int()
	}
	whole := usage()
	preview := c.CallJSON("context/preview",
		apptest.Object{"threadId": id,
			"edits": []apptest.Object{{"type": "setInclusion", "ids": []string{"r20.1"}, "included": false}}})
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{"r20.1"}, "included": false})
	require.Equal(t, preview.Get("after.promptTokens").Int(), usage(), "the original items are sent instead")
	require.Contains(t, c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw, "no such file x.txt")
	c.Call("context/undo", apptest.Object{"threadId": id})
	require.Equal(t, whole, usage())

	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastTurns": 1})
	prompt := c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw
	require.NotContains(t, prompt, "bm90IGZvciB1cw==")
	require.NotContains(t, prompt, "Edit x.txt")
	c.Close()

	c = resumeWith(t, home, id, "plain", "test")
	prompt = c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw
	require.NotContains(t, prompt, "Edit x.txt", "the trim removes both forms")
	require.NotContains(t, strings.Join(c.Warnings(), "\n"), "encrypted")
	c.Call("context/undo", apptest.Object{"threadId": id})
	formsSent(c, id, originalItems, sealedForm)
	c.Call("thread/compact/start", apptest.Object{"threadId": id, "strategy": "local"})
	c.AwaitTurn()
	require.Contains(t, c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw, "sed -i s/a/b/ x.txt")
	c.Close()

	c = resumeWith(t, home, id, "sealing", "gpt-5.5")
	require.NotContains(t, c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw, "bm90IGZvciB1cw==",
		"the extract has it")
	c.Call("context/undo", apptest.Object{"threadId": id})
	formsSent(c, id, sealedForm, originalItems)
	require.Equal(t, whole, usage())
	c.Call("thread/compact/start", apptest.Object{"threadId": id, "strategy": "local"})
	c.AwaitTurn()
	prompt = c.CallJSON("context/getPrompt", apptest.Object{"threadId": id}).Raw
	require.Contains(t, prompt, "sed -i s/a/b/ x.txt", "the extract has no original items")
	require.NotContains(t, prompt, "bm90IGZvciB1cw==")
	c.Close()
}

func itemIDs(items gjson.Result, path string) (ids []string) {
	for _, id := range items.Get(path).Array() {
		ids = append(ids, id.Str)
	}
	return ids
}

// TestResumeWithoutRecordedProviderUsesConfiguredModel resumes a rollout with a model, but no
// provider.
func TestResumeWithoutRecordedProviderUsesConfiguredModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(1)...)
	home := p.Home(t)
	id := apptest.PutRollouts(t, home)["0.34.0"]
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, "gpt-5-codex", c.CallJSON("thread/read", apptest.Object{"threadId": id}).Get("thread.model").Str)
	require.Equal(t, "test", c.CallJSON("thread/resume", apptest.Object{"threadId": id, "cwd": home}).Get("model").Str)
	require.Equal(t, "completed", c.Turn(id, "go on").Status)
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "names the model gpt-5-codex, but not its provider")
	require.Equal(t, "test", gjson.Get(p.Requests()[0].Body, "model").Str)
	c.Close()
}

// TestForkWithoutRecordedProviderUsesConfiguredModel forks a rollout with a model, but no provider.
func TestForkWithoutRecordedProviderUsesConfiguredModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(1)...)
	home := p.Home(t)
	id := apptest.PutRollouts(t, home)["0.34.0"]
	c := apptest.StartServer(t, home)
	c.Initialize()
	fork := c.CallJSON("thread/fork", apptest.Object{"threadId": id, "cwd": home})
	require.Equal(t, "test", fork.Get("model").Str)
	require.Equal(t, "completed", c.Turn(fork.Get("thread.id").Str, "go on").Status)
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "names the model gpt-5-codex, but not its provider")
	require.Equal(t, "test", gjson.Get(p.Requests()[0].Body, "model").Str)
	c.Close()
}
