package e2e

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestMethodFlagsSayWhatMethodsDo calls each method for a thread, and looks what it does to the thread and to the
// caller. A method that starts a turn, subscribes its caller or ends the subscription must have the flag in the method
// table, because servers that forward requests rely on it.
func TestMethodFlagsSayWhatMethodsDo(t *testing.T) {
	t.Parallel()
	d := apptest.StartDaemon(t, t.TempDir(), "ws://127.0.0.1:0")
	for _, m := range protocol.Methods() {
		members := memberNames(m.Params)
		if !slices.Contains(members, "threadId") && !slices.Contains(members, "draftId") && !m.NewThread {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			did := effects{}
			for variant := range variantsOf(members) {
				for _, subscribed := range []bool{false, true} {
					did.add(callFlagged(t, d, m, members, variant, subscribed))
				}
			}
			require.True(t, did.accepted, "no params are accepted: add values of its members to memberValues")
			require.Equal(t, did.startsTurn, m.StartsTurn, "the method starts a turn")
			require.Equal(t, did.subscribes, m.Subscribes, "the method subscribes its caller")
			require.Equal(t, did.unsubscribes, m.Unsubscribes, "the method ends the subscription of its caller")
		})
	}
}

// effects are the results of calls of a method: turns that started, subscriptions that changed.
type effects struct{ accepted, startsTurn, subscribes, unsubscribes bool }

func (e *effects) add(more effects) {
	e.accepted = e.accepted || more.accepted
	e.startsTurn = e.startsTurn || more.startsTurn
	e.subscribes = e.subscribes || more.subscribes
	e.unsubscribes = e.unsubscribes || more.unsubscribes
}

// callFlagged calls a method in the name of a client for a thread with a turn. Another client watches the thread.
func callFlagged(t *testing.T, d *apptest.Daemon, m protocol.Method, members []string, variant int,
	subscribed bool) (did effects) {
	watcher, caller := d.ConnectInitialized(), d.ConnectInitialized()
	defer watcher.Abort()
	defer caller.Abort()
	thread := watcher.StartTrusted()
	turn := watcher.Turn(thread, "hello").ID
	loaded := loadedThreads(t, watcher.Client)
	if subscribed {
		caller.Call("thread/resume", apptest.Object{"threadId": thread})
	}
	params := apptest.Object{}
	for name, values := range memberValues(watcher.Client, thread, turn) {
		if slices.Contains(members, name) {
			params[name] = values[min(variant, len(values)-1)]
		}
	}
	response := caller.Request(m.Name, params)
	did.accepted = response.Error == nil || response.Error.Code != protocol.CodeInvalidParams

	// The requests after it are served after the messages of the method.
	started := startedTurns(caller.Client, "context/getUsage", apptest.Object{"threadId": thread})
	started = append(started, startedTurns(watcher.Client, "context/getUsage", apptest.Object{"threadId": thread})...)
	did.startsTurn = len(started) > 0
	for _, id := range loadedThreads(t, watcher.Client) {
		isNew := !slices.Contains(loaded, id)
		if !isNew && id != thread || subscribed && isNew {
			continue
		}
		gets := getsTurns(caller.Client, watcher.Client, id)
		did.subscribes = did.subscribes || gets && !subscribed
		did.unsubscribes = did.unsubscribes || !gets && subscribed
	}
	return did
}

// getsTurns reports whether a client gets the notifications of a thread. Another client runs a turn there.
func getsTurns(client, other *apptest.Client, thread string) bool {
	resumed := other.Call("thread/resume", apptest.Object{"threadId": thread})
	if gjson.GetBytes(resumed, "thread.status.type").Str == "active" {
		awaitEnd(other, thread)
	}
	other.BeginTurn(thread, "hello again")
	awaitEnd(other, thread)
	return slices.Contains(startedTurns(client, "thread/loaded/list", apptest.Object{}), thread)
}

// awaitEnd reads until a turn of a thread ends.
func awaitEnd(c *apptest.Client, thread string) {
	c.Until(func(m apptest.Message) bool {
		return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "threadId").Str == thread
	})
}

// startedTurns sends a request, and returns the threads of the turns that have started according to the messages until
// the response.
func startedTurns(c *apptest.Client, method string, params apptest.Object) (threads []string) {
	id := c.SendRequest(method, params)
	c.Until(func(m apptest.Message) bool {
		if m.Method == "turn/started" {
			threads = append(threads, gjson.GetBytes(m.Params, "threadId").Str)
		}
		return m.Method == "" && string(m.ID) == id
	})
	return threads
}

func loadedThreads(t *testing.T, c *apptest.Client) []string {
	var list protocol.ThreadLoadedListResponse
	require.NoError(t, json.Unmarshal(c.Call("thread/loaded/list", apptest.Object{}), &list))
	return list.Data
}

// memberValues returns values of members of params for a thread with a turn. A call has the value at its place in the
// list, or else the last one. Members without values are left out.
func memberValues(c *apptest.Client, thread, turn string) map[string][]any {
	var context struct{ Items []struct{ ID string } }
	raw := c.Call("context/getItems", apptest.Object{"threadId": thread})
	require.NoError(c.T, json.Unmarshal(raw, &context))
	require.NotEmpty(c.T, context.Items, string(raw))
	item := context.Items[0].ID
	said := apptest.Object{"type": "message", "role": "user",
		"content": []apptest.Object{{"type": "input_text", "text": "injected"}}}
	categories := []protocol.ContextCategory{protocol.ContextCategories()[0]}
	return map[string][]any{
		"beforeTurnId": {turn}, "categories": {categories}, "command": {"true"}, "delivery": {"inline", "detached"},
		"draftId": {thread + ":1"}, "edits": {[]apptest.Object{{"type": "prune", "categories": categories}}},
		"expectedTurnId": {turn}, "id": {item}, "ids": {[]string{item}}, "included": {false},
		"input": {apptest.TextInput("hello")}, "itemId": {item}, "items": {[]apptest.Object{said}},
		"mode": {protocol.MemoryEnabled, "conversation"}, "name": {"a name"}, "numTurns": {1}, "pinned": {true},
		"processId": {"1"}, "query": {"hello"}, "revision": {0}, "searchTerm": {"hello"}, "server": {"docs"},
		"summary": {"a summary"}, "target": {apptest.Object{"type": "custom", "instructions": "look"}},
		"text": {"/compact", "/new", "another text"}, "threadId": {thread}, "tool": {"look"}, "turnId": {turn},
		"uri": {"mem://a"},
	}
}

// variantsOf returns the number of calls with different values.
func variantsOf(members []string) int {
	variants := 1
	for _, name := range members {
		switch name {
		case "delivery", "mode":
			variants = max(variants, 2)
		case "text":
			variants = max(variants, 3)
		}
	}
	return variants
}

// memberNames returns the names of the members of params that are required, or select what the method does.
func memberNames(params reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(params) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		selects := slices.Contains([]string{"threadId", "id", "ids", "delivery"}, name)
		if name != "" && (selects || !strings.Contains(options, "omitempty")) {
			names = append(names, name)
		}
	}
	return names
}
