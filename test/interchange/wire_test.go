//go:build reference

package interchange

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// responsesHome returns a home for both servers, with a provider of the Responses API.
func responsesHome(t *testing.T, p *apptest.Provider) *interchange {
	x := &interchange{t: t, home: t.TempDir(), project: t.TempDir()}
	apptest.WriteConfig(t, x.home, fmt.Sprintf(`model = "gpt-5"
model_provider = "test"
model_reasoning_effort = "high"
model_reasoning_summary = "detailed"
model_verbosity = "low"
service_tier = "flex"
[model_providers.test]
name = "test"
base_url = %q
wire_api = "responses"
query_params = { api-version = "1" }
http_headers = { X-Mine = "yes" }
`, p.Server.URL+"/v1"))
	return x
}

const (
	aPixel     = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	sealedCall = `{"type":"function_call","id":"fc_1","call_id":"c1","name":"exec_command","arguments":"{\"cmd\": \"echo hi\"}"}`
	patchCall  = `{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c2","name":"apply_patch","input":"*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch"}`
)

// wireDifferences are all differences between the requests of both servers, with the reasons.
// Members of items are named by the type of the item; + is in the reference only, - in this server
// only.
var wireDifferences = map[string]string{
	"+client_metadata":                   "it is for the vendor's statistics",
	"-instructions":                      "every server of the API takes it",
	"+input.developer":                   "the system prompt is in instructions",
	"+input.message.id":                  "it names an item that the provider does not keep",
	"+input.reasoning.id":                "it names an item that the provider does not keep",
	"+input.function_call.id":            "it names an item that the provider does not keep",
	"+input.function_call_output.id":     "it names an item that the provider does not keep",
	"+input.reasoning.content":           "null says nothing",
	"+input.message.content.detail":      "providers choose the resolution themselves",
	"+input.message.content.annotations": "they are not part of what was said",
	"-text.verbosity":                    "the reference implementation sends it only to models that its list knows",
	"+tools.multi_agent_v1":              "few providers know namespaces of tools",
	"-tools.spawn_agent":                 "it is in the namespace multi_agent_v1 there",
	"-tools.send_input":                  "it is in the namespace multi_agent_v1 there",
	"-tools.wait_agent":                  "it is in the namespace multi_agent_v1 there",
	"-tools.close_agent":                 "it is in the namespace multi_agent_v1 there",
	"-tools.resume_agent":                "it is in the namespace multi_agent_v1 there",
	"+tools.get_goal":                    "there are no goals",
	"+tools.create_goal":                 "there are no goals",
	"+tools.update_goal":                 "there are no goals",
	"-tools.shell":                       "most commands are to end with their call",
	"-tools.apply_patch":                 "the reference implementation offers it only to models that its list knows",
	"-tools.update_plan":                 "the reference implementation offers it only to models that its list knows",
	"+header.Session-Id":                 "prompt_cache_key names the session",
	"+header.Thread-Id":                  "prompt_cache_key names the session",
	"+header.X-Client-Request-Id":        "it is for the vendor's statistics",
	"+header.X-Codex-Beta-Features":      "the vendor's features are not used",
	"+header.X-Codex-Turn-Metadata":      "it is for the vendor's statistics",
	"+header.X-Codex-Window-Id":          "it is for the vendor's statistics",
	"-header.Accept-Encoding":            "answers may be compressed",
}

// TestReferenceResponsesRequests runs the same conversation with both servers, and compares each
// member of their requests.
func TestReferenceResponsesRequests(t *testing.T) {
	here, there := wireRequests(t, (*interchange).ours), wireRequests(t, (*interchange).reference)
	require.Len(t, here, 3)
	require.Len(t, there, 3)
	found := map[string]bool{}
	for i := range here {
		compareMembers(t, found, there[i], here[i])
	}
	require.Equal(t, slices.Sorted(maps.Keys(wireDifferences)), slices.Sorted(maps.Keys(found)))
}

// wireRequests returns the members of a conversation's requests by path.
func wireRequests(t *testing.T, start func(*interchange) *apptest.Client) (list []map[string][]string) {
	p := apptest.ResponsesWire.NewProvider(t,
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning), apptest.ItemDone(sealedCall))),
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage))),
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage))))
	x := responsesHome(t, p)
	c := start(x)
	thread := c.StartThread(apptest.Object{"cwd": x.project, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.Call("turn/start",
		apptest.Object{"threadId": thread,
			"input": []apptest.Object{{"type": "text", "text": "look"}, {"type": "image", "url": aPixel}}})
	c.AwaitTurn()
	c.Call("turn/start",
		apptest.Object{"threadId": thread, "input": apptest.TextInput("again"),
			"outputSchema": apptest.Object{"type": "object", "properties": apptest.Object{}, "additionalProperties": false}})
	c.AwaitTurn()
	c.Close()
	for _, r := range p.Requests() {
		m := map[string][]string{}
		for name, values := range r.Header {
			if name != "Content-Length" && name != "User-Agent" {
				m["header."+name] = values
			}
		}
		m["query"] = []string{r.Query}
		gjson.Parse(r.Body).ForEach(func(name, v gjson.Result) bool {
			wireMember(m, name.Str, v)
			return true
		})
		for path, values := range m {
			for i := range values {
				m[path][i] = strings.ReplaceAll(values[i], thread, "THREAD")
			}
		}
		list = append(list, m)
	}
	return list
}

// wireMember adds a member of a request, except texts that differ between the servers.
func wireMember(m map[string][]string, name string, v gjson.Result) {
	switch name {
	case "instructions", "client_metadata":
		m[name] = []string{"…"}
	case "tools":
		for _, tool := range v.Array() {
			if tool.Get("type").Str == "web_search" {
				m["tools.web_search"] = []string{tool.Raw}
				continue
			}
			m["tools."+tool.Get("name").Str] = []string{tool.Get("type").Str}
		}
	case "input":
		for _, item := range v.Array() {
			wireItem(m, item)
		}
	default:
		flattened(m, name, v)
	}
}

func wireItem(m map[string][]string, item gjson.Result) {
	switch {
	case item.Get("role").Str == "developer":
		m["input.developer"] = []string{"…"}
		return
	case strings.HasPrefix(item.Get("content.0.text").Str, "<environment_context>"):
		flattened(m, "input.message.id", item.Get("id"))
		return
	}
	m["input"] = append(m["input"], item.Get("type").Str)
	flattened(m, "input."+item.Get("type").Str, item)
}

// flattened adds the values below a path. Elements of a list have the same path. Ids and the head
// of a command's output are left out, because they differ.
func flattened(m map[string][]string, path string, v gjson.Result) {
	switch {
	case !v.Exists():
	case v.IsObject():
		v.ForEach(func(name, v gjson.Result) bool {
			flattened(m, path+"."+name.Str, v)
			return true
		})
	case v.IsArray() && len(v.Array()) > 0:
		for _, v := range v.Array() {
			flattened(m, path, v)
		}
	case strings.HasPrefix(path, "input.") && strings.HasSuffix(path, ".id"):
		m[path] = []string{"ID"}
	case path == "input.function_call_output.output":
		m[path] = append(m[path], outputLine("", v.Str))
	default:
		m[path] = append(m[path], v.Raw)
	}
}

// compareMembers records the members that only one of two requests has. A member of both must have
// one value.
func compareMembers(t *testing.T, found map[string]bool, there, here map[string][]string) {
	for path, values := range there {
		if _, both := here[path]; both {
			require.Equal(t, values, here[path], path)
		} else {
			found["+"+path] = true
		}
	}
	for path := range here {
		if _, both := there[path]; !both {
			found["-"+path] = true
		}
	}
}

// TestReferenceResponsesInterchange continues threads of the other server. All sent items are sent
// again in order, with encrypted reasoning, calls, outputs and searches.
func TestReferenceResponsesInterchange(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesExchange)
	for name, c := range map[string]struct {
		from, to func(*interchange) *apptest.Client
	}{
		"ours":      {(*interchange).ours, (*interchange).reference},
		"reference": {(*interchange).reference, (*interchange).ours},
	} {
		t.Run(name, func(t *testing.T) {
			hello := apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
			p := apptest.ResponsesWire.NewProvider(t,
				apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning),
					apptest.ItemDone(apptest.SearchDone),
					apptest.ItemDone(sealedCall))),
				apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(patchCall))), hello, hello)
			x := responsesHome(t, p)
			first := c.from(x)
			thread := first.StartThread(apptest.Object{"cwd": x.project, "sandbox": "danger-full-access",
				"approvalPolicy": "never"})
			first.Turn(thread, "one")
			shown := first.CompareAnswer("thread/read", thread)
			first.Close()
			second := c.to(x)
			require.Equal(t, shown.Thread.Turns[0].Items[1]["type"],
				second.CompareAnswer("thread/resume", thread).Thread.Turns[0].Items[1]["type"])
			second.Turn(thread, "two")
			second.Close()
			before, after := sentItems(p.Requests()[2]), sentItems(p.Requests()[3])
			require.Equal(t, []string{"message", "reasoning", "web_search_call", "function_call", "function_call_output",
				"custom_tool_call", "custom_tool_call_output"}, itemTypes(before))
			require.Equal(t, append(before, "message assistant hello", "message user two"), after)
		})
	}
}

// sentItems returns the items of a request with the members that must be kept.
func sentItems(r apptest.ChatRequest) (list []string) {
	for _, i := range gjson.Get(r.Body, "input").Array() {
		if i.Get("role").Str == "developer" || strings.HasPrefix(i.Get("content.0.text").Str, "<environment_context>") {
			continue
		}
		parts := []string{i.Get("type").Str}
		for _, path := range []string{"role", "content.0.text", "summary.0.text", "encrypted_content", "call_id", "name",
			"arguments", "input", "output", "action"} {
			if v := i.Get(path); v.Exists() {
				parts = append(parts, v.String())
			}
		}
		list = append(list, strings.Join(parts, " "))
	}
	return list
}

func itemTypes(items []string) (types []string) {
	for _, i := range items {
		kind, _, _ := strings.Cut(i, " ")
		types = append(types, kind)
	}
	return types
}

// TestReferenceShowsTheSameSearches compares the items of searches from their start.
func TestReferenceShowsTheSameSearches(t *testing.T) {
	shown := func(start func(*interchange) *apptest.Client) [][3]string {
		p := apptest.ResponsesWire.NewProvider(t,
			apptest.StreamAnswer(apptest.EventStream(apptest.ItemAdded(apptest.SearchStarted),
				apptest.ItemDone(apptest.SearchDone),
				apptest.ItemDone(apptest.PageOpened),
				apptest.ItemDone(apptest.PageSearch), apptest.ItemDone(apptest.SearchManyQueries),
				apptest.ItemDone(apptest.SearchWithoutAction),
				apptest.ItemDone(apptest.HelloMessage))))
		x := responsesHome(t, p)
		c := start(x)
		defer c.Close()
		return apptest.WebSearches(c.TurnMessages(c.StartThread(apptest.Object{"cwd": x.project}), "one"))
	}
	here := shown((*interchange).ours)
	require.Len(t, here, 10)
	require.Equal(t, shown((*interchange).reference), here)
}
