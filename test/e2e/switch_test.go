package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// switchHome returns a home with the providers sealing and plain. They are one server, by the
// Responses API and by Chat Completions.
func switchHome(p *apptest.Provider, t *testing.T) string {
	home := t.TempDir()
	table := "[model_providers.%s]\nbase_url = %q\nwire_api = %q\n"
	apptest.WriteConfig(t, home, "model = \"gpt-5\"\nmodel_provider = \"sealing\"\n"+
		fmt.Sprintf(table, "sealing", p.Server.URL+"/v1", apptest.ResponsesWire)+
		fmt.Sprintf(table, "plain", p.Server.URL+"/v1", apptest.ChatWire))
	return home
}

// resumeWith starts a server that resumes a thread with a provider and a model.
func resumeWith(t *testing.T, home, thread, provider, model string, args ...string) *apptest.Client {
	c := apptest.StartServer(t, home, args...)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread, "modelProvider": provider, "model": model})
	return c
}

// notSent returns the reasons of a thread's items that are not in the prompt, by type of item.
func notSent(c *apptest.Client, thread string) map[string]string {
	reasons := map[string]string{}
	for _, i := range c.CallJSON("context/getItems", apptest.Object{"threadId": thread}).Get("items").Array() {
		reason := i.Get("notSentReason")
		require.Equal(c.T, !i.Get("inPrompt").Bool(), reason.Exists(), i.Raw)
		if reason.Exists() {
			reasons[i.Get("category").Str] = reason.Str
		}
	}
	return reasons
}

// inputTypes returns the types of a request's items, except messages.
func inputTypes(r apptest.ChatRequest) (types []string) {
	for _, item := range gjson.Get(r.Body, "input").Array() {
		if kind := item.Get("type").Str; kind != "message" {
			types = append(types, kind)
		}
	}
	return types
}

// TestThreadChangesProviderAndWire continues a thread with another model, another provider with
// another API, and the first again. Items are converted. Unreadable ones have a reason, and are
// sent again to the model that produced them.
func TestThreadChangesProviderAndWire(t *testing.T) {
	t.Parallel()
	const (
		search = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"go"}}`
		patch  = `{"type":"custom_tool_call","status":"completed","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch"}`
	)
	hello := apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
	p := apptest.NewProvider(t,
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning), apptest.ItemDone(search),
			apptest.ItemDone(patch))), hello,
		hello, apptest.ShellAnswer("call_2", "echo hi"), apptest.TextAnswer("fine"), apptest.TextAnswer("fine"), hello)
	home, dir := switchHome(p, t), t.TempDir()
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.Turn(thread, "one")
	require.FileExists(t, dir+"/made.txt")
	require.Empty(t, notSent(c, thread))
	require.Equal(t, []string{"reasoning", "web_search_call", "custom_tool_call", "custom_tool_call_output"},
		inputTypes(p.Requests()[1]))

	c.Call("turn/start", apptest.Object{"threadId": thread, "input": apptest.TextInput("two"), "model": "gpt-5-mini"})
	c.AwaitTurn()
	require.Equal(t, map[string]string{"reasoning": "otherModel"}, notSent(c, thread))
	require.Equal(t, []string{"web_search_call", "custom_tool_call", "custom_tool_call_output"}, inputTypes(p.Requests()[2]))
	c.Close()

	c = resumeWith(t, home, thread, "plain", "test")
	require.Equal(t, map[string]string{"reasoning": "otherProvider", "other": "otherProvider"}, notSent(c, thread))
	c.Turn(thread, "three")
	call := gjson.Get(p.Requests()[3].Body, `messages.#(tool_calls).tool_calls.0`)
	require.Equal(t, "apply_patch", call.Get("function.name").Str)
	require.Contains(t, gjson.Get(call.Get("function.arguments").Str, "input").Str, "*** Add File: made.txt")
	require.Contains(t, gjson.Get(p.Requests()[3].Body, `messages.#(role=="tool").content`).Str, "made.txt")
	require.NotContains(t, p.Requests()[3].Body, "SEALED")
	c.Close()

	c = resumeWith(t, home, thread, "sealing", "gpt-5", "-c", `model_providers.sealing.wire_api="chat"`)
	require.Equal(t, map[string]string{"reasoning": "otherApi", "other": "otherApi"}, notSent(c, thread))
	c.Turn(thread, "four")
	require.NotContains(t, p.Requests()[5].Body, "SEALED")
	c.Close()

	c = resumeWith(t, home, thread, "sealing", "gpt-5")
	require.Empty(t, notSent(c, thread))
	c.Turn(thread, "five")
	require.Equal(t, []string{"reasoning", "web_search_call", "custom_tool_call", "custom_tool_call_output",
		"function_call", "function_call_output"},
		inputTypes(p.Requests()[6]))
	require.Equal(t, "SEALED", gjson.Get(p.Requests()[6].Body, `input.#(type=="reasoning").encrypted_content`).Str)
	c.Close()
}

// TestReasonsOfUnsentItems checks every other reason.
func TestReasonsOfUnsentItems(t *testing.T) {
	t.Parallel()
	p := apptest.ResponsesWire.NewProvider(t,
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning),
			apptest.ItemDone(apptest.HelloMessage))),
		apptest.ShellAnswer("call_1", "echo hi"), apptest.TextAnswer("done"))
	c := apptest.StartServer(t, p.Home(t), "-c", `model="gpt-5"`)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	c.Turn(thread, "two")
	items := c.CallJSON("context/getItems", apptest.Object{"threadId": thread}).Get("items")
	exclude := func(category string) {
		id := items.Get(`#(category=="` + category + `").id`).Str
		c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{id}, "included": false})
	}
	exclude("assistantMessage")
	require.Equal(t, map[string]string{"reasoning": "answerNotSent", "assistantMessage": "excluded"}, notSent(c, thread))
	c.Call("context/undo", apptest.Object{"threadId": thread})
	exclude("toolCall")
	require.Equal(t, map[string]string{"toolCall": "excluded", "toolOutput": "callNotSent"}, notSent(c, thread))
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Call("context/replace",
		apptest.Object{"threadId": thread, "id": items.Get(`#(category=="reasoning").id`).Str, "text": "short"})
	require.Equal(t, map[string]string{"reasoning": "replaced"}, notSent(c, thread))
	c.Call("thread/inject_items", apptest.Object{"threadId": thread, "items": []apptest.Object{
		{"type": "reasoning", "summary": []apptest.Object{},
			"content": []apptest.Object{{"type": "reasoning_text", "text": "raw"}}}, {"type": "mystery"}}})
	require.Equal(t, map[string]string{"reasoning": "otherApi", "other": "unreadable"}, notSent(c, thread))
	c.Close()
	c = apptest.StartServer(t, apptest.ChatWire.NewProvider(t).Home(t))
	c.Initialize()
	thread = c.StartTrusted()
	c.Call("thread/inject_items", apptest.Object{"threadId": thread, "items": []apptest.Object{
		{"type": "reasoning", "summary": []apptest.Object{},
			"content": []apptest.Object{{"type": "reasoning_text", "text": "raw"}}}}})
	require.Equal(t, map[string]string{"reasoning": "notTakenBack"}, notSent(c, thread))
	c.Close()
}

// TestProviderChangeNotifiesFullList changes the provider of a thread. The client gets all items,
// because the reasons of old ones change.
func TestProviderChangeNotifiesFullList(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t,
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning),
			apptest.ItemDone(apptest.HelloMessage))),
		apptest.TextAnswer("fine"), apptest.TextAnswer("fine"))
	home := switchHome(p, t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	c.Close()

	c = apptest.StartServer(t, home)
	c.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"},
		"capabilities": apptest.Object{"experimentalApi": true, "contextItemsDelta": true}})
	c.Send(apptest.Object{"method": "initialized"})
	c.Call("thread/resume", apptest.Object{"threadId": thread, "modelProvider": "plain", "model": "gpt-5"})
	for _, full := range []bool{true, false} {
		c.BeginTurn(thread, "again")
		var whole, unsent []bool
		c.Until(func(m apptest.Message) bool {
			if m.Method == "ContextItems" {
				notified := gjson.ParseBytes(m.Params)
				whole = append(whole, notified.Get("full").Bool())
				unsent = append(unsent, notified.Get(`items.#(notSentReason=="otherProvider")`).Exists())
			}
			return m.Method == "turn/completed"
		})
		require.Equal(t, full, slices.Contains(whole, true))
		require.Equal(t, full, slices.Contains(unsent, true))
	}
	c.Close()
}
