package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// sealedItem returns encrypted reasoning of a length.
func sealedItem(length int) string {
	return fmt.Sprintf(`{"type":"reasoning","summary":[],"encrypted_content":%q}`, strings.Repeat("A", length))
}

// endingWith returns the body of an answer with items and usage.
func endingWith(usage string, items ...string) string {
	var b strings.Builder
	for _, item := range items {
		b.WriteString("data: " + apptest.ItemDone(item) + "\n\n")
	}
	return b.String() + `data: {"type":"response.completed","response":{"usage":` + usage + "}}\n\n"
}

// pricesOf returns the tokens of a thread's encrypted reasoning.
func pricesOf(c *apptest.Client, thread string) (tokens []int64) {
	for _, i := range c.CallJSON("context/getItems",
		apptest.Object{"threadId": thread}).Get(`items.#(category=="reasoning")#`).Array() {
		tokens = append(tokens, i.Get("tokens").Int())
	}
	return tokens
}

// TestResponsesReasoningPriceComesFromReport prices encrypted reasoning by the usage of its answer,
// or by its length. A reload gives the same prices.
func TestResponsesReasoningPriceComesFromReport(t *testing.T) {
	t.Parallel()
	const reported = `{"input_tokens":1000,"output_tokens":350,"output_tokens_details":{"reasoning_tokens":300},"total_tokens":1350}`
	p := apptest.ResponsesWire.NewProvider(t,
		apptest.StreamAnswer(endingWith(reported, sealedItem(4000), sealedItem(2000), apptest.HelloMessage)),
		apptest.StreamAnswer(endingWith("null", sealedItem(4000), apptest.HelloMessage)),
		apptest.StreamAnswer(endingWith(reported, sealedItem(4000), apptest.HelloMessage)))
	home := p.Home(t)
	c := apptest.StartServer(t, home, "-c", `model="gpt-5"`)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	first := pricesOf(c, thread)
	require.Len(t, first, 2)
	require.InDelta(t, 300, first[0]+first[1], 1, "the items divide the reported tokens")
	require.Greater(t, first[0], 2*first[1])

	c.Turn(thread, "two")
	require.Equal(t, append(first, (4000/4*3-650)/4), pricesOf(c, thread), "the estimate depends on the length")
	c.Turn(thread, "three")
	prices := append(first, (4000/4*3-650)/4, 300)
	require.Equal(t, prices, pricesOf(c, thread))

	items := c.CallJSON("context/getItems", apptest.Object{"threadId": thread})
	last := items.Get(`items.#(category=="assistantMessage")#.id|@reverse|0`).Str
	excluded := c.CallJSON("context/setInclusion",
		apptest.Object{"threadId": thread, "ids": []string{last}, "included": false})
	price := items.Get(`items.#(id=="` + last + `").tokens`).Int()
	require.Equal(t, items.Get("usage.promptTokens").Int()-300-price, excluded.Get("usage.promptTokens").Int())
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Close()

	c = resumeWith(t, home, thread, "test", "gpt-5")
	require.Equal(t, prices, pricesOf(c, thread))
	c.Close()
}

// TestResponsesReasoningFollowsItsAnswer deletes the answer and the call of encrypted reasoning,
// and undoes that.
func TestResponsesReasoningFollowsItsAnswer(t *testing.T) {
	t.Parallel()
	call := `{"type":"function_call","call_id":"call_1","name":"shell","arguments":"{\"command\":\"true\"}"}`
	p := apptest.ResponsesWire.NewProvider(t, apptest.StreamAnswer(endingWith("null", sealedItem(40), call)),
		apptest.StreamAnswer(endingWith("null", sealedItem(80), apptest.HelloMessage)))
	c := apptest.StartServer(t, p.Home(t), "-c", `model="gpt-5"`)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	whole := []string{"reasoning", "function_call", "function_call_output", "reasoning"}
	prompt := func() (types []string) {
		for _, m := range c.CallJSON("context/getPrompt", apptest.Object{"threadId": thread}).Get("messages").Array() {
			if kind := m.Get("type").Str; kind != "message" {
				types = append(types, kind)
			}
		}
		return types
	}
	require.Equal(t, whole, prompt())
	for category, left := range map[string][]string{
		"assistantMessage": {"reasoning", "function_call", "function_call_output"},
		"toolCall":         {"reasoning"},
	} {
		items := c.CallJSON("context/getItems", apptest.Object{"threadId": thread}).Get("items")
		index := items.Get(`#(category=="` + category + `").index`).Int()
		c.Call("context/pruneByIndices", apptest.Object{"threadId": thread, "indices": []int64{index}})
		require.Equal(t, left, prompt(), category)
		require.Equal(t, "answerNotSent", notSent(c, thread)["reasoning"])
		c.Call("context/undo", apptest.Object{"threadId": thread})
		require.Equal(t, whole, prompt(), category)
		c.Call("context/redo", apptest.Object{"threadId": thread})
		require.Equal(t, left, prompt(), category)
		c.Call("context/restore", apptest.Object{"threadId": thread})
		require.Equal(t, whole, prompt(), category)
	}
	c.Close()
}

// TestResponsesPromptHasTheWiresForm shows the request in the form of the Responses API.
func TestResponsesPromptHasTheWiresForm(t *testing.T) {
	t.Parallel()
	p := apptest.ResponsesWire.NewProvider(t, apptest.StreamAnswer(endingWith("null", sealedItem(40),
		apptest.HelloMessage)),
		apptest.TextAnswer("fine"))
	c := apptest.StartServer(t, p.Home(t), "-c", `model="gpt-5"`)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	shown := c.CallJSON("context/getPrompt", apptest.Object{"threadId": thread})
	c.Turn(thread, "two")
	sent := gjson.Parse(p.Requests()[1].Body)
	input := sent.Get("input").Array()
	messages := shown.Get("messages").Array()
	require.Len(t, messages, len(input), "the system prompt without the new input")
	require.Equal(t, sent.Get("instructions").Str, messages[0].Get("content.0.text").Str)
	for i, m := range messages[1:] {
		require.Equal(t, input[i].Raw, m.Raw)
	}
	require.Equal(t, sent.Get("tools").Raw, shown.Get("tools").Raw)
	c.Close()
}
