package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestNothingBeforeInitialize(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		notInitialized := func(id string) string {
			return refusal(id, "-32600", "Not initialized", "notInitialized")
		}
		p.say(requestOf("1"), `{"id":2,"method":"no/such"}`, `{"id":3,"method":"model/list","params":[]}`,
			`{"method":"initialized"}`)
		require.Equal(t, []string{notInitialized("1"), notInitialized("2"), notInitialized("3")}, p.hear())

		_, known := p.server.Client(1)
		require.False(t, known)
		p.initialize()
		state, known := p.server.Client(1)
		require.True(t, known)
		require.Equal(t, protocol.ClientInfo{Name: "test", Version: "1"}, state.Info)
		require.Equal(t, answerOf("4"), p.ask(requestOf("4")), "served without the initialized notification")
	})
}

// TestPipelinedHandshake checks that a client may send requests before it has the response to
// initialize.
func TestPipelinedHandshake(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.say(initializeLine, `{"method":"initialized"}`, requestOf("1"))
		require.Equal(t, []string{initializeAnswer, answerOf("1")}, p.hear())
	})
}

func TestFailedInitializeOpensNothing(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		require.Contains(t, p.ask(`{"id":0,"method":"initialize","params":{}}`), `"field":"clientInfo"`)
		require.Equal(t, refusal("1", "-32600", "Not initialized", "notInitialized"), p.ask(requestOf("1")))
		p.initialize()
	})
}

func TestExperimentalMembers(t *testing.T) {
	start := func(member string) string { return `{"id":1,"method":"thread/start","params":{` + member + `}}` }
	const served = `{"jsonrpc":"2.0","id":1,"result":{}}`
	refused := refusal("1", "-32600", "thread/start.experimentalRawEvents requires experimentalApi capability",
		"experimentalApiRequired")
	cases := []struct{ member, want string }{
		{`"experimentalRawEvents":true`, refused},
		{`"experimentalRawEvents":{}`, refused},
		{`"experimentalRawEvents":false`, served},
		{`"experimentalRawEvents":null`, served},
		{`"model":"experimentalRawEvents"`, served},
		{`"ExperimentalRawEvents":true`, served}, // a different member
		{`"experimentalRawEvents":null,"experimentalRawEvents":true`, refused},
	}
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		for _, c := range cases {
			require.Equal(t, c.want, p.ask(start(c.member)), c.member)
		}
	})
	converse(t, func(t *testing.T, p *peer) {
		p.ask(experimentalLine)
		for _, c := range cases {
			if c.member == `"experimentalRawEvents":{}` {
				require.Contains(t, p.ask(start(c.member)), "expected a boolean")
				continue
			}
			require.Equal(t, served, p.ask(start(c.member)), c.member)
		}
	})
}

func TestOptOut(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.ask(`{"id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"},` +
			`"capabilities":{"optOutNotificationMethods":["thread/closed","item/agentMessage/delta","warn"]}}}`)
		p.server.Notify(1, protocol.ThreadClosedNotification{ThreadID: "t"})
		p.server.Notify(1, &protocol.AgentMessageDeltaNotification{ThreadID: "t", ItemID: "i", Delta: "d"})
		p.server.Notify(1, protocol.WarningNotification{Message: "w"})
		require.Equal(t, []string{`{"jsonrpc":"2.0","method":"warning","params":{"threadId":null,"message":"w"},` +
			`"emittedAtMs":946684800000}`}, p.hear(), "names are matched exactly")
	})
}

// TestMethodTable checks that no served method is listed as a method of the vendor's cloud.
func TestMethodTable(t *testing.T) {
	for _, m := range protocol.Methods() {
		require.False(t, isCloudMethod(m.Name), m.Name)
	}
	for _, name := range []string{"plugin/list", "account/usage/read", "thread/realtime/start", "windowsSandbox/readiness"} {
		require.True(t, isCloudMethod(name), name)
	}
	for _, name := range []string{"account/logouts", "account/read", "app", "thread/realtimes"} {
		require.False(t, isCloudMethod(name), name)
	}
	require.False(t, strings.Contains(methodNotFound("x/y").Message, "cloud"))
}
