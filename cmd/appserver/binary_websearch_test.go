package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// itemAdded is the event with which an item begins.
func itemAdded(item string) string {
	return `{"type":"response.output_item.added","item":` + item + `}`
}

const (
	searchBegun = `{"type":"web_search_call","id":"ws_1","status":"in_progress"}`
	searchDone  = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"weather"}}`
	pageOpened  = `{"type":"web_search_call","id":"ws_2","status":"completed","action":{"type":"open_page","url":"https://a.org"}}`
	pageSearch  = `{"type":"web_search_call","id":"ws_3","status":"completed","action":{"type":"find_in_page","url":"https://a.org","pattern":"rain"}}`
	manyQueries = `{"type":"web_search_call","id":"ws_4","status":"completed","action":{"type":"search","queries":["one","two"]}}`
	noAction    = `{"type":"web_search_call","id":"ws_5","status":"failed"}`
)

// searches are the webSearch items among messages: the method, the query and the action of each.
func searches(heard []message) (list [][3]string) {
	for _, m := range heard {
		if item := gjson.GetBytes(m.Params, "item"); item.Get("type").Str == "webSearch" {
			list = append(list, [3]string{m.Method, item.Get("query").Str, item.Get("action").Raw})
		}
	}
	return list
}

// heardTurn has a turn, and is what was heard of it.
func (c *client) heardTurn(thread, text string) (heard []message) {
	c.beginTurn(thread, text)
	c.until(func(m message) bool {
		heard = append(heard, m)
		return m.Method == "turn/completed"
	})
	return heard
}

// TestBinarySearchesOfTheProvider are shown as they run, kept, listed, sent back, and can be excluded.
func TestBinarySearchesOfTheProvider(t *testing.T) {
	t.Parallel()
	hello := asEvents(eventStream(itemDone(saidHello)))
	p := responsesWire.provider(t, asEvents(eventStream(itemAdded(searchBegun), itemDone(searchDone), itemDone(pageOpened),
		itemDone(pageSearch), itemDone(manyQueries), itemDone(noAction), itemDone(saidHello))), hello, hello)
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	thread := c.startTrusted()
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
	require.Equal(t, want, searches(c.heardTurn(thread, "one")))
	c.close()

	c = startServer(t, home)
	c.initialize()
	items := gjson.ParseBytes(c.call("thread/resume", object{"threadId": thread})).Get("thread.turns.0.items")
	require.Equal(t, `["ws_1","ws_2","ws_3","ws_4","ws_5"]`, items.Get(`#(type=="webSearch")#.id`).Raw)
	require.Equal(t, want[1][2], items.Get(`#(id=="ws_1").action`).Raw)
	listed := c.get("context/getItems", object{"threadId": thread}).Get(`items.#(itemId=="ws_1")`)
	require.True(t, listed.Get("inPrompt").Bool(), listed.Raw)
	c.turn(thread, "two")
	require.JSONEq(t, "["+searchDone+","+pageOpened+","+pageSearch+","+manyQueries+","+noAction+"]",
		gjson.Get(p.asked()[1].Body, `input.#(type=="web_search_call")#`).Raw)
	c.call("context/setInclusion", object{"threadId": thread, "ids": []string{listed.Get("id").Str}, "included": false})
	c.turn(thread, "three")
	require.Equal(t, `["ws_2","ws_3","ws_4","ws_5"]`, gjson.Get(p.asked()[2].Body, `input.#(type=="web_search_call")#.id`).Raw)
	c.close()
}

// TestBinaryWebSearchIsOffered as the configuration and the sandbox say, by the Responses API only.
func TestBinaryWebSearchIsOffered(t *testing.T) {
	t.Parallel()
	readOnly, full := object{"type": "readOnly"}, object{"type": "dangerFullAccess"}
	for name, c := range map[string]struct {
		args    []string
		sandbox object
		want    string // "" for no tool
	}{
		"by default":       {nil, readOnly, `{"type":"web_search","external_web_access":false}`},
		"with full access": {nil, full, `{"type":"web_search","external_web_access":true}`},
		"live":             {[]string{`web_search="live"`}, readOnly, `{"type":"web_search","external_web_access":true}`},
		"indexed":          {[]string{`web_search="indexed"`}, readOnly, `{"type":"web_search","external_web_access":true,"indexed_web_access":true}`},
		"disabled":         {[]string{`web_search="disabled"`}, full, ""},
		"a boolean":        {[]string{`tools.web_search=false`}, readOnly, `{"type":"web_search","external_web_access":false}`},
		"with details": {[]string{`tools.web_search={context_size="high",allowed_domains=["a.org"],location={country="DE",city="Berlin"}}`}, readOnly,
			`{"type":"web_search","external_web_access":false,"search_context_size":"high","filters":{"allowed_domains":["a.org"]},"user_location":{"type":"approximate","country":"DE","city":"Berlin"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := responsesWire.provider(t, asEvents(eventStream(itemDone(saidHello))))
			var args []string
			for _, a := range c.args {
				args = append(args, "-c", a)
			}
			server := startServer(t, p.home(t), args...)
			server.initialize()
			thread := server.startTrusted()
			server.call("turn/start", object{"threadId": thread, "input": textInput("one"), "sandboxPolicy": c.sandbox})
			server.awaitTurn()
			tool := gjson.Get(p.asked()[0].Body, `tools.#(type=="web_search")`)
			if c.want == "" {
				require.Empty(t, tool.Raw)
			} else {
				require.JSONEq(t, c.want, tool.Raw)
			}
			server.close()
		})
	}
	t.Run("by chat", func(t *testing.T) {
		p := chatWire.provider(t, says("hello"))
		server := startServer(t, p.home(t), "-c", `web_search="live"`)
		server.initialize()
		server.turn(server.startTrusted(), "one")
		require.NotContains(t, p.asked()[0].Body, "web_search")
		server.close()
	})
}

// TestResponsesWithoutWebSearch sends the request again without the tool, and no later one with it.
func TestResponsesWithoutWebSearch(t *testing.T) {
	t.Parallel()
	hello := eventStream(itemDone(saidHello))
	p := newResponsesProvider(t, hello, hello)
	p.refuse = func(body []byte) (int, string) {
		if gjson.GetBytes(body, `tools.#(type=="web_search")`).Exists() {
			return http.StatusBadRequest, `{"error":{"message":"Invalid value: 'web_search'. Supported values are: 'function'.","param":"tools[6].type"}}`
		}
		return 0, ""
	}
	c := startServer(t, p.home(t, "local"))
	c.initialize()
	thread := c.startTrusted()
	require.Equal(t, "completed", c.turn(thread, "one").Status)
	require.Equal(t, "completed", c.turn(thread, "two").Status)
	require.Equal(t, 1, p.refused)
	c.close()
}
