package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// startLists are the lists that clients request at start, with valid params.
var startLists = map[string]apptest.Object{
	"model/list": {}, "modelProvider/list": {}, "modelProvider/capabilities/read": {}, "account/read": {},
	"getAuthStatus":            {},
	"experimentalFeature/list": {}, "collaborationMode/list": {}, "permissionProfile/list": {},
	"configRequirements/read": nil,
	"hooks/list":              {}, "skills/list": {}, "skills/extraRoots/set": {"extraRoots": []string{}},
}

// TestListsRejectInvalidParams names the invalid param, ignores unknown ones, and keeps serving.
func TestListsRejectInvalidParams(t *testing.T) {
	c := apptest.StartOffline(t, t.TempDir())
	for method, good := range startLists {
		for _, odd := range []any{7, "text", true, []any{1, 2}} {
			err := c.CallRejected(method, odd)
			require.Contains(t, []int{-32600, -32602}, err.Code, "%s %v", method, odd)
			require.Equal(t, "invalidParams", err.Data.Kind, "%s %v", method, odd)
		}
		more := apptest.Object{"madeUp": apptest.Object{"deep": []int{1}}}
		for name, value := range good {
			more[name] = value
		}
		c.Call(method, more)
	}
	for _, tt := range []struct {
		method string
		params apptest.Object
		field  string
	}{
		{"model/list", apptest.Object{"limit": -1}, "limit"}, {"model/list", apptest.Object{"limit": 1.5}, "limit"},
		{"model/list", apptest.Object{"limit": "1"}, "limit"}, {"model/list", apptest.Object{"limit": 1 << 32}, "limit"},
		{"model/list", apptest.Object{"includeHidden": "yes"}, "includeHidden"},
		{"model/list", apptest.Object{"cursor": 1}, "cursor"}, {"model/list", apptest.Object{"cursor": "-1"}, "cursor"},
		{"model/list", apptest.Object{"cursor": "2"}, "cursor"},
		{"model/list", apptest.Object{"cursor": strings.Repeat("9", 100_000)}, "cursor"},
		{"model/list", apptest.Object{"modelProvider": 1}, "modelProvider"},
		{"experimentalFeature/list", apptest.Object{"cursor": "x"}, "cursor"},
		{"experimentalFeature/list", apptest.Object{"limit": apptest.Object{}}, "limit"},
		{"permissionProfile/list", apptest.Object{"cursor": "4"}, "cursor"},
		{"permissionProfile/list", apptest.Object{"limit": true}, "limit"},
		{"hooks/list", apptest.Object{"cwds": "/"}, "cwds"},
		{"skills/list", apptest.Object{"cwds": apptest.Object{}}, "cwds"},
		{"skills/list", apptest.Object{"cwds": []any{1}}, "cwds.0"},
		{"skills/list", apptest.Object{"forceReload": "x"}, "forceReload"},
		{"skills/extraRoots/set", apptest.Object{}, "extraRoots"},
		{"skills/extraRoots/set", apptest.Object{"extraRoots": []any{nil}}, "extraRoots.0"},
		{"skills/extraRoots/set", apptest.Object{"extraRoots": []string{"/a", "b"}}, "extraRoots"},
		{"skills/extraRoots/set", apptest.Object{"extraRoots": []string{""}}, "extraRoots"},
		{"account/read", apptest.Object{"refreshToken": "x"}, "refreshToken"},
		{"getAuthStatus", apptest.Object{"includeToken": 1}, "includeToken"},
	} {
		err := c.CallRejected(tt.method, tt.params)
		require.Equal(t, tt.field, err.Data.Field, "%s: %s", tt.method, err.Message)
		require.Less(t, len(err.Message), 1000)
	}
	c.Close()
}

// TestListsPageToTheEnd requires that the pages together are the whole list for any limit, and that
// the page after the end is empty.
func TestListsPageToTheEnd(t *testing.T) {
	m := newModelServer(t, writeHandler(`{"data":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"}]}`))
	c := apptest.StartServer(t, m.home(t, "model = \"b\"\n"))
	c.Initialize()
	for _, method := range []string{"model/list", "experimentalFeature/list", "permissionProfile/list"} {
		all := gjson.GetBytes(c.Call(method, apptest.Object{}), "data").Array()
		require.Greater(t, len(all), 1, method)
		for limit := range len(all) + 2 {
			var rows []gjson.Result
			cursor := gjson.Result{}
			for range len(all) + 1 {
				page := gjson.ParseBytes(c.Call(method, apptest.Object{"limit": limit, "cursor": cursor.Value()}))
				require.LessOrEqual(t, len(page.Get("data").Array()), max(limit, 1))
				rows = append(rows, page.Get("data").Array()...)
				if cursor = page.Get("nextCursor"); cursor.Type == gjson.Null {
					break
				}
			}
			require.Equal(t, gjson.Null, cursor.Type, "%s by %d ends", method, limit)
			require.Equal(t, fmt.Sprint(all), fmt.Sprint(rows), "%s by %d", method, limit)
		}
		require.Empty(t, gjson.GetBytes(c.Call(method, apptest.Object{"cursor": fmt.Sprint(len(all))}), "data").Array())
	}
	c.Close()
}

// TestListsNeedInitialize rejects lists before initialize.
func TestListsNeedInitialize(t *testing.T) {
	c := apptest.StartProcess(t, apptest.OfflineCommand(t, t.TempDir()))
	for method, params := range startLists {
		require.Equal(t, "notInitialized", c.CallRejected(method, params).Data.Kind, method)
	}
	c.Close()
}

// TestModelListSurvivesInvalidProviders answers /models with invalid responses. The list has the
// configured models, no message contains the key, and turns work.
func TestModelListSurvivesInvalidProviders(t *testing.T) {
	sample.Long(t)
	fails := func(status int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for name, tt := range map[string]struct {
		list func(http.ResponseWriter, *http.Request)
		want string
	}{
		"401":            {fails(401, `{"error":{"message":"bad key hidden-key"}}`), "b"},
		"404":            {fails(404, "<html>not here</html>"), "b"},
		"500":            {fails(500, ""), "b"},
		"204":            {fails(204, ""), "b"},
		"no JSON":        {writeHandler("<!doctype html>"), "b"},
		"half of it":     {writeHandler(`{"data":[{"id":"a"},{"id":"c"`), "b"},
		"no list":        {writeHandler(`{"data":{"a":1}}`), "b"},
		"nothing":        {writeHandler(`{"data":[]}`), "b"},
		"null":           {writeHandler(`null`), "b"},
		"binary":         {writeHandler("\x00\xff\x1b[2J"), "b"},
		"deep":           {writeHandler(strings.Repeat(`{"data":[`, 100_000)), "b"},
		"too much":       {writeHandler(`{"data":[{"id":"a","description":"` + strings.Repeat("x", 9<<20) + `"}]}`), "b"},
		"many":           {writeHandler(manyModels(5000)), "b m0000 m0001"},
		"bytes for text": {writeHandler("{\"data\":[{\"id\":\"a\xff\"}]}"), "b a\ufffd"},
		"long names":     {writeHandler(`{"data":[{"id":"` + strings.Repeat("n", 100_000) + `"},{"id":"a"}]}`), "b a"},
		"hung up":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "b"},
		"a wrong length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			_, _ = w.Write([]byte("{}"))
		}, "b"},
		"a loop": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "b"},
		"drop by drop":    {streamForever, "b"},
		"as a wrong type": {writeHandler(`{"data":[{"id":"a","max_model_len":"much","architecture":7,"top_provider":[]},{"id":["c"]}]}`), "b a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModelServer(t, tt.list)
			home := m.home(t, "model = \"b\"\n")
			apptest.WriteConfig(t, home,
				fmt.Sprintf("model = \"b\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nbase_url = %q\nwire_api = \"chat\"\nexperimental_bearer_token = \"hidden-key\"\n", m.URL+"/v1"))
			c := apptest.StartServer(t, home)
			c.Initialize()
			answer := c.Call("model/list", apptest.Object{"limit": 3})
			var ids []string
			for _, id := range gjson.GetBytes(answer, "data.#.id").Array() {
				ids = append(ids, id.Str)
			}
			require.Equal(t, tt.want, strings.Join(ids, " "))
			require.NotContains(t, string(answer), "hidden-key")
			require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{}), "hello").Status)
			c.Close()
		})
	}
}

func manyModels(n int) string {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"id":"m%04d","description":%q}`, i, strings.Repeat("d", 300)))
	}
	return `{"data":[` + strings.Join(rows, ",") + `]}`
}

// streamForever streams without end.
func streamForever(w http.ResponseWriter, r *http.Request) {
	_, _ = w.Write([]byte(`{"data":[`))
	for r.Context().Err() == nil {
		if _, err := w.Write([]byte(`{"id":"a"},`)); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestModelListKeepsKeyOnRedirect redirects the request for models. The other server does not get
// the key.
func TestModelListKeepsKeyOnRedirect(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "hidden-key") {
				leaked.Store(true)
			}
		}
		if strings.Contains(r.URL.RawQuery, "hidden-key") {
			leaked.Store(true)
		}
		writeHandler(`{"data":[{"id":"elsewhere"}]}`)(w, r)
	}))
	t.Cleanup(other.Close)
	host := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	m := newModelServer(t,
		func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, host+"/v1/models", http.StatusFound) })
	home := m.home(t, "")
	apptest.WriteConfig(t, home, fmt.Sprintf(`model = "b"
model_provider = "mine"
[model_providers.mine]
base_url = %q
wire_api = "chat"
experimental_bearer_token = "hidden-key"
http_headers = { "X-Api-Key" = "hidden-key-2" }
query_params = { key = "hidden-key-3" }
`, m.URL+"/v1"))
	c := apptest.StartServer(t, home)
	c.Initialize()
	c.Call("model/list", apptest.Object{})
	require.False(t, leaked.Load())
	c.Close()
}

// TestSkillListHasEachFolder requires one entry per requested folder, in order, for any kind of
// folder.
func TestSkillListHasEachFolder(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	apptest.WriteSkill(t, filepath.Join(work, ".codex", "skills", "a"), apptest.SkillText)
	apptest.WriteSkill(t, filepath.Join(work, ".codex", "skills", "bad"), "none")
	c := apptest.StartOffline(t, home)
	folders := []string{work, "/nowhere", "relative", "", "/dev/null", work, "/proc/self/fd", "a\x00b",
		strings.Repeat("/long", 2000)}
	var list struct {
		Data []struct {
			Cwd            string
			Skills, Errors []json.RawMessage
		}
	}
	require.NoError(t, json.Unmarshal(c.Call("skills/list", apptest.Object{"cwds": folders}), &list))
	require.Len(t, list.Data, len(folders))
	for i, entry := range list.Data {
		require.Equal(t, folders[i], entry.Cwd)
		require.NotNil(t, entry.Skills)
		require.NotNil(t, entry.Errors)
		if folders[i] == work {
			require.Len(t, entry.Skills, 1)
			require.Len(t, entry.Errors, 1)
		}
	}
	c.Close()
}

// TestSkillChangesAreNotified requires that each client is notified after the response to the
// change, and that turns find the new skill.
func TestSkillChangesAreNotified(t *testing.T) {
	p := apptest.NewProvider(t, apptest.TextAnswer("One."), apptest.TextAnswer("Two."))
	extra := t.TempDir()
	apptest.WriteSkill(t, filepath.Join(extra, "release"), apptest.SkillText)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Turn(thread, "$release")
	answer := c.SendRequest("skills/extraRoots/set", apptest.Object{"extraRoots": []string{extra}})
	require.Nil(t, c.Until(func(m apptest.Message) bool {
		return string(m.ID) == answer ||
			m.Method == "skills/changed"
	}).Error)
	c.UntilMethod("skills/changed")
	c.Turn(thread, "$release")
	requests := p.Requests()
	require.NotContains(t, requests[0].Body, "Run the tests.")
	require.Contains(t, requests[1].Body, "Run the tests.")
	c.Call("skills/extraRoots/set", apptest.Object{"extraRoots": []string{}})
	require.NotContains(t, string(c.Call("skills/list", apptest.Object{"cwds": []string{"/"}})), extra)
	c.Close()
}
