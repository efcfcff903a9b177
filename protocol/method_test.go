package protocol_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestMethodNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range protocol.Methods() {
		require.False(t, seen[m.Name], m.Name)
		seen[m.Name] = true
		require.NotEmpty(t, m.Doc, m.Name)
	}
	for _, n := range protocol.Notifications() {
		require.False(t, seen[n.Method], n.Method)
		seen[n.Method] = true
		require.NotEmpty(t, n.Doc, n.Method)
	}
	for _, r := range protocol.ServerRequests() {
		require.False(t, seen[r.Name], r.Name)
		seen[r.Name] = true
		require.NotEmpty(t, r.Doc, r.Name)
	}
}

// Each row has a params type of its own, so the type of a handler's method identifies its row. ContextEdit serves all
// operations on the context.
func TestHandlerHasOneMethodPerRow(t *testing.T) {
	handler := reflect.TypeFor[protocol.Handler]()
	rows := protocol.Methods()
	edits := map[string]bool{}
	for _, o := range protocol.ContextOperations() {
		edits[protocol.ContextMethod(o)] = true
	}
	rows = slices.DeleteFunc(rows, func(m protocol.Method) bool { return edits[m.Name] })
	require.Equal(t, len(protocol.Methods())-len(edits), len(rows), "an operation has no method")
	require.Equal(t, len(rows)+1, handler.NumMethod())
	serves := map[reflect.Type]string{}
	for i := range handler.NumMethod() {
		method := handler.Method(i)
		if method.Name == "ContextEdit" {
			continue
		}
		params := method.Type.In(1).Elem()
		require.Empty(t, serves[params], "%s takes the params of %s", method.Name, serves[params])
		serves[params] = method.Name
	}
	for _, m := range rows {
		require.NotEmpty(t, serves[m.Params], "nothing serves %s", m.Name)
		require.Equal(t, serves[m.Params]+"Params", m.Params.Name())
	}
}

func TestNotificationsAreSentUnderTheirMethod(t *testing.T) {
	for _, row := range protocol.Notifications() {
		n, ok := reflect.New(row.Params).Interface().(protocol.Notification)
		require.True(t, ok, row.Method)
		require.Equal(t, row.Method, n.NotificationMethod())
	}
}

func TestOnlyInitializeComesFirst(t *testing.T) {
	for _, m := range protocol.Methods() {
		require.Equal(t, m.Name == "initialize", m.BeforeInitialize, m.Name)
	}
}

func TestExperimentalMembersAreListedOnce(t *testing.T) {
	for _, m := range protocol.Methods() {
		seen := map[string]bool{}
		for _, member := range m.Experimental {
			require.False(t, seen[member], "%s.%s", m.Name, member)
			seen[member] = true
		}
	}
}

// reader serves thread/read only.
type reader struct {
	protocol.Handler
	to  protocol.Caller
	got *protocol.ThreadReadParams
}

var errRefused = errors.New("refused")

func (r *reader) ThreadRead(to protocol.Caller, p *protocol.ThreadReadParams) error {
	r.to, r.got = to, p
	return errRefused
}

func row(t *testing.T, name string) protocol.Method {
	t.Helper()
	for _, m := range protocol.Methods() {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no such method", name)
	return protocol.Method{}
}

func TestServeDecodesAndCalls(t *testing.T) {
	h, to := &reader{}, protocol.Caller{Conn: 1, Request: 2}
	err := row(t, "thread/read").Serve(h, to, json.RawMessage(`{"threadId":"t","includeTurns":true,"later":1}`))
	require.ErrorIs(t, err, errRefused, "what the handler says is the answer")
	require.Equal(t, to, h.to)
	require.Equal(t, &protocol.ThreadReadParams{ThreadID: "t", IncludeTurns: true}, h.got)
}

func TestServeDoesNotCallWithWrongParams(t *testing.T) {
	for _, m := range protocol.Methods() {
		err := m.Serve(&reader{}, protocol.Caller{}, json.RawMessage(`[]`))
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal, m.Name)
		require.Equal(t, protocol.CodeInvalidParams, refusal.Code)
	}
}

// TestFlagsOfPlaces checks the flags that say for which thread a method is against the members of its params. What
// methods do is checked with a server.
func TestFlagsOfPlaces(t *testing.T) {
	for _, m := range protocol.Methods() {
		threads, turns, optional := false, false, false
		for _, f := range reflect.VisibleFields(m.Params) {
			switch name, options, _ := strings.Cut(f.Tag.Get("json"), ","); name {
			case "threadId":
				threads, optional = true, options == "omitempty" && f.Type.Kind() == reflect.String
			case "turnId":
				turns = true
			}
		}
		require.Equal(t, optional && turns, m.ByTurn, m.Name)
		require.Equal(t, m.Subscribes && !threads, m.NewThread, m.Name)
	}
}

func TestParamsNameTheirMethod(t *testing.T) {
	require.Equal(t, "thread/resume", protocol.MethodFor[protocol.ThreadResumeParams]().Name)
	require.Empty(t, protocol.MethodFor[protocol.Thread]().Name)
}
