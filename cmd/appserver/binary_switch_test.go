package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// switchHome is a home whose providers sealing and plain are one server, by the Responses API and by
// Chat Completions.
func (p *provider) switchHome(t *testing.T) string {
	home := t.TempDir()
	table := "[model_providers.%s]\nbase_url = %q\nwire_api = %q\n"
	writeConfig(t, home, "model = \"gpt-5\"\nmodel_provider = \"sealing\"\n"+
		fmt.Sprintf(table, "sealing", p.server.URL+"/v1", responsesWire)+fmt.Sprintf(table, "plain", p.server.URL+"/v1", chatWire))
	return home
}

// resumeWith starts a server that resumes a thread with a provider and a model.
func resumeWith(t *testing.T, home, thread, provider, model string, args ...string) *client {
	c := startServer(t, home, args...)
	c.initialize()
	c.call("thread/resume", object{"threadId": thread, "modelProvider": provider, "model": model})
	return c
}

// notSent are the reasons of a thread's items that are not in the prompt, by what they are.
func notSent(c *client, thread string) map[string]string {
	reasons := map[string]string{}
	for _, i := range c.get("context/getItems", object{"threadId": thread}).Get("items").Array() {
		reason := i.Get("notSentReason")
		require.Equal(c.t, !i.Get("inPrompt").Bool(), reason.Exists(), i.Raw)
		if reason.Exists() {
			reasons[i.Get("category").Str] = reason.Str
		}
	}
	return reasons
}

// inputTypes are the types of the items of a request, those of messages left out.
func inputTypes(r chatRequest) (types []string) {
	for _, item := range gjson.Get(r.Body, "input").Array() {
		if kind := item.Get("type").Str; kind != "message" {
			types = append(types, kind)
		}
	}
	return types
}

// TestBinaryThreadsChangeProviderAndWire goes on with a thread by another model, by another provider
// of another API, and back. Items are translated; what cannot be read is named with its reason, and
// is sent again to the model that made it.
func TestBinaryThreadsChangeProviderAndWire(t *testing.T) {
	t.Parallel()
	const (
		search = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go"}}`
		patch  = `{"type":"custom_tool_call","status":"completed","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch"}`
	)
	hello := asEvents(eventStream(itemDone(saidHello)))
	p := newProvider(t, asEvents(eventStream(itemDone(sealedThought), itemDone(search), itemDone(patch))), hello,
		hello, callsShell("call_2", "echo hi"), says("fine"), says("fine"), hello)
	home, dir := p.switchHome(t), t.TempDir()
	c := startServer(t, home)
	c.initialize()
	thread := c.startThread(object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.turn(thread, "one")
	require.FileExists(t, dir+"/made.txt")
	require.Empty(t, notSent(c, thread))
	require.Equal(t, []string{"reasoning", "web_search_call", "custom_tool_call", "custom_tool_call_output"}, inputTypes(p.asked()[1]))

	c.call("turn/start", object{"threadId": thread, "input": textInput("two"), "model": "gpt-5-mini"})
	c.awaitTurn()
	require.Equal(t, map[string]string{"reasoning": "otherModel"}, notSent(c, thread))
	require.Equal(t, []string{"web_search_call", "custom_tool_call", "custom_tool_call_output"}, inputTypes(p.asked()[2]))
	c.close()

	c = resumeWith(t, home, thread, "plain", "test")
	require.Equal(t, map[string]string{"reasoning": "otherProvider", "other": "otherProvider"}, notSent(c, thread))
	c.turn(thread, "three")
	call := gjson.Get(p.asked()[3].Body, `messages.#(tool_calls).tool_calls.0`)
	require.Equal(t, "apply_patch", call.Get("function.name").Str)
	require.Contains(t, gjson.Get(call.Get("function.arguments").Str, "input").Str, "*** Add File: made.txt")
	require.Contains(t, gjson.Get(p.asked()[3].Body, `messages.#(role=="tool").content`).Str, "made.txt")
	require.NotContains(t, p.asked()[3].Body, "SEALED")
	c.close()

	c = resumeWith(t, home, thread, "sealing", "gpt-5", "-c", `model_providers.sealing.wire_api="chat"`)
	require.Equal(t, map[string]string{"reasoning": "otherApi", "other": "otherApi"}, notSent(c, thread))
	c.turn(thread, "four")
	require.NotContains(t, p.asked()[5].Body, "SEALED")
	c.close()

	c = resumeWith(t, home, thread, "sealing", "gpt-5")
	require.Empty(t, notSent(c, thread))
	c.turn(thread, "five")
	require.Equal(t, []string{"reasoning", "web_search_call", "custom_tool_call", "custom_tool_call_output", "function_call", "function_call_output"},
		inputTypes(p.asked()[6]))
	require.Equal(t, "SEALED", gjson.Get(p.asked()[6].Body, `input.#(type=="reasoning").encrypted_content`).Str)
	c.close()
}

// TestBinaryReasonsOfItemsThatAreNotSent has every other reason.
func TestBinaryReasonsOfItemsThatAreNotSent(t *testing.T) {
	t.Parallel()
	p := responsesWire.provider(t, asEvents(eventStream(itemDone(sealedThought), itemDone(saidHello))), callsShell("call_1", "echo hi"), says("done"))
	c := startServer(t, p.home(t), "-c", `model="gpt-5"`)
	c.initialize()
	thread := c.startTrusted()
	c.turn(thread, "one")
	c.turn(thread, "two")
	items := c.get("context/getItems", object{"threadId": thread}).Get("items")
	exclude := func(category string) {
		id := items.Get(`#(category=="` + category + `").id`).Str
		c.call("context/setInclusion", object{"threadId": thread, "ids": []string{id}, "included": false})
	}
	exclude("assistantMessage")
	require.Equal(t, map[string]string{"reasoning": "answerNotSent", "assistantMessage": "excluded"}, notSent(c, thread))
	c.call("context/undo", object{"threadId": thread})
	exclude("toolCall")
	require.Equal(t, map[string]string{"toolCall": "excluded", "toolOutput": "callNotSent"}, notSent(c, thread))
	c.call("context/undo", object{"threadId": thread})
	c.call("context/replace", object{"threadId": thread, "id": items.Get(`#(category=="reasoning").id`).Str, "text": "short"})
	require.Equal(t, map[string]string{"reasoning": "replaced"}, notSent(c, thread))
	c.call("thread/inject_items", object{"threadId": thread, "items": []object{
		{"type": "reasoning", "summary": []object{}, "content": []object{{"type": "reasoning_text", "text": "raw"}}}, {"type": "mystery"}}})
	require.Equal(t, map[string]string{"reasoning": "otherApi", "other": "unreadable"}, notSent(c, thread))
	c.close()
	c = startServer(t, chatWire.provider(t).home(t))
	c.initialize()
	thread = c.startTrusted()
	c.call("thread/inject_items", object{"threadId": thread, "items": []object{
		{"type": "reasoning", "summary": []object{}, "content": []object{{"type": "reasoning_text", "text": "raw"}}}}})
	require.Equal(t, map[string]string{"reasoning": "notTakenBack"}, notSent(c, thread))
	c.close()
}

// TestBinaryTellsTheWholeListAfterAChangeOfProvider follows a thread as a client that keeps the list:
// after a change of the provider it is told all items, because the reasons of old ones are others.
func TestBinaryTellsTheWholeListAfterAChangeOfProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t, asEvents(eventStream(itemDone(sealedThought), itemDone(saidHello))), says("fine"), says("fine"))
	home := p.switchHome(t)
	c := startServer(t, home)
	c.initialize()
	thread := c.startTrusted()
	c.turn(thread, "one")
	c.close()

	c = startServer(t, home)
	c.call("initialize", object{"clientInfo": object{"name": "test", "version": "1"},
		"capabilities": object{"experimentalApi": true, "contextItemsDelta": true}})
	c.send(object{"method": "initialized"})
	c.call("thread/resume", object{"threadId": thread, "modelProvider": "plain", "model": "gpt-5"})
	for _, full := range []bool{true, false} {
		c.beginTurn(thread, "again")
		var told gjson.Result
		ended := false
		c.until(func(m message) bool {
			if m.Method == "ContextItems" {
				told = gjson.ParseBytes(m.Params)
			}
			ended = ended || m.Method == "turn/completed"
			return ended && told.Exists()
		})
		require.Equal(t, full, told.Get("full").Bool())
		require.Equal(t, full, told.Get(`items.#(notSentReason=="otherProvider")`).Exists())
	}
	c.close()
}
