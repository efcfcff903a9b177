package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestWebSearchItemsAreKept requires that searches are notified while they run, stored, listed,
// sent again, and can be excluded.
func TestWebSearchItemsAreKept(t *testing.T) {
	t.Parallel()
	hello := apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
	p := apptest.ResponsesWire.NewProvider(t,
		apptest.StreamAnswer(apptest.EventStream(apptest.ItemAdded(apptest.SearchStarted),
			apptest.ItemDone(apptest.SearchDone),
			apptest.ItemDone(apptest.PageOpened),
			apptest.ItemDone(apptest.PageSearch), apptest.ItemDone(apptest.SearchManyQueries),
			apptest.ItemDone(apptest.SearchWithoutAction),
			apptest.ItemDone(apptest.HelloMessage))), hello, hello)
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	want := [][3]string{
		{"item/started", "", `{"type":"other"}`},
		{"item/completed", "weather", `{"type":"search","query":"weather","queries":null}`},
	}
	for _, s := range [][2]string{
		{"https://a.org", `{"type":"openPage","url":"https://a.org"}`},
		{"'rain' in https://a.org", `{"type":"findInPage","url":"https://a.org","pattern":"rain"}`},
		{"one ...", `{"type":"search","query":null,"queries":["one","two"]}`},
		{"", `{"type":"other"}`},
	} {
		want = append(want, [3]string{"item/started", s[0], s[1]}, [3]string{"item/completed", s[0], s[1]})
	}
	require.Equal(t, want, apptest.WebSearches(c.TurnMessages(thread, "one")))
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	items := gjson.ParseBytes(c.Call("thread/resume", apptest.Object{"threadId": thread})).Get("thread.turns.0.items")
	require.Equal(t, `["ws_1","ws_2","ws_3","ws_4","ws_5"]`, items.Get(`#(type=="webSearch")#.id`).Raw)
	require.Equal(t, want[1][2], items.Get(`#(id=="ws_1").action`).Raw)
	listed := c.CallJSON("context/getItems", apptest.Object{"threadId": thread}).Get(`items.#(itemId=="ws_1")`)
	require.True(t, listed.Get("inPrompt").Bool(), listed.Raw)
	c.Turn(thread, "two")
	require.JSONEq(t,
		"["+apptest.SearchDone+","+apptest.PageOpened+","+apptest.PageSearch+","+apptest.SearchManyQueries+","+
			apptest.SearchWithoutAction+"]",
		gjson.Get(p.Requests()[1].Body, `input.#(type=="web_search_call")#`).Raw)
	c.Call("context/setInclusion",
		apptest.Object{"threadId": thread, "ids": []string{listed.Get("id").Str}, "included": false})
	c.Turn(thread, "three")
	require.Equal(t, `["ws_2","ws_3","ws_4","ws_5"]`,
		gjson.Get(p.Requests()[2].Body, `input.#(type=="web_search_call")#.id`).Raw)
	c.Close()
}

// TestWebSearchFollowsSettings offers the tool by the configuration and the sandbox policy, with
// the Responses API only.
func TestWebSearchFollowsSettings(t *testing.T) {
	t.Parallel()
	readOnly, full := apptest.Object{"type": "readOnly"}, apptest.Object{"type": "dangerFullAccess"}
	for name, c := range map[string]struct {
		args    []string
		sandbox apptest.Object
		want    string // empty for no tool
	}{
		"by default":       {nil, readOnly, `{"type":"web_search","external_web_access":false}`},
		"with full access": {nil, full, `{"type":"web_search","external_web_access":true}`},
		"live":             {[]string{`web_search="live"`}, readOnly, `{"type":"web_search","external_web_access":true}`},
		"indexed": {[]string{`web_search="indexed"`}, readOnly,
			`{"type":"web_search","external_web_access":true,"indexed_web_access":true}`},
		"disabled":  {[]string{`web_search="disabled"`}, full, ""},
		"a boolean": {[]string{`tools.web_search=false`}, readOnly, ""},
		"with details": {[]string{`tools.web_search={context_size="high",allowed_domains=["a.org"],location={country="DE",city="Berlin"}}`}, readOnly,
			`{"type":"web_search","external_web_access":false,"search_context_size":"high","filters":{"allowed_domains":["a.org"]},"user_location":{"type":"approximate","country":"DE","city":"Berlin"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := apptest.ResponsesWire.NewProvider(t,
				apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage))))
			var args []string
			for _, a := range c.args {
				args = append(args, "-c", a)
			}
			server := apptest.StartServer(t, p.Home(t), args...)
			server.Initialize()
			thread := server.StartTrusted()
			server.Call("turn/start",
				apptest.Object{"threadId": thread, "input": apptest.TextInput("one"), "sandboxPolicy": c.sandbox})
			server.AwaitTurn()
			tool := gjson.Get(p.Requests()[0].Body, `tools.#(type=="web_search")`)
			if c.want == "" {
				require.Empty(t, tool.Raw)
			} else {
				require.JSONEq(t, c.want, tool.Raw)
			}
			server.Close()
		})
	}
	t.Run("by chat", func(t *testing.T) {
		p := apptest.ChatWire.NewProvider(t, apptest.TextAnswer("hello"))
		server := apptest.StartServer(t, p.Home(t), "-c", `web_search="live"`)
		server.Initialize()
		server.Turn(server.StartTrusted(), "one")
		require.NotContains(t, p.Requests()[0].Body, "web_search")
		server.Close()
	})
}

// TestResponsesRetryWithoutWebSearch sends a rejected request again without the tool. Later
// requests do not have it.
func TestResponsesRetryWithoutWebSearch(t *testing.T) {
	t.Parallel()
	hello := apptest.EventStream(apptest.ItemDone(apptest.HelloMessage))
	p := newResponsesProvider(t, hello, hello)
	p.refuse = func(body []byte) (int, string) {
		if gjson.GetBytes(body, `tools.#(type=="web_search")`).Exists() {
			return http.StatusBadRequest,
				`{"error":{"message":"Invalid value: 'web_search'. Supported values are: 'function'.","param":"tools[6].type"}}`
		}
		return 0, ""
	}
	c := apptest.StartServer(t, p.home(t, "local"))
	c.Initialize()
	thread := c.StartTrusted()
	require.Equal(t, "completed", c.Turn(thread, "one").Status)
	require.Equal(t, "completed", c.Turn(thread, "two").Status)
	require.Equal(t, 1, p.rejected)
	c.Close()
}
