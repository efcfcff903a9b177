package forward_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestARejoinRepeatsNoSettings resumes a thread with settings and with configuration. After the end of the owner,
// only what the log does not have is sent to the next one.
func TestARejoinRepeatsNoSettings(t *testing.T) {
	former, next := newNode(t, "a"), newNode(t, "b")
	e := newEdge(t, former, next)
	e.own("a")
	_, err := fmt.Fprintln(e.client, `{"id":"resume","method":"thread/resume","params":{"threadId":"T","model":"m",`+
		`"modelProvider":"p","serviceTier":"s","cwd":"/d","approvalPolicy":"never","approvalsReviewer":"user",`+
		`"sandbox":"danger-full-access","excludeTurns":true,"baseInstructions":"base","developerInstructions":"dev",`+
		`"config":{"approval_policy":"never","sandbox_mode":"danger-full-access","sandbox_workspace_write.network_access":true,`+
		`"model":"m","projects.\"/d\".trust_level":"trusted","mcp_servers.x.command":"y"}}}`)
	require.NoError(t, err)
	require.Equal(t, "T", e.read(e.client).Get("result.thread.id").Str)
	linkConn(t, former)
	got := make(chan *protocol.ThreadResumeParams, 1)
	next.resume = func(to protocol.Caller, p *protocol.ThreadResumeParams) error {
		got <- p
		next.Reply(to, raw(`{"thread":{"id":"T","turns":[]}}`))
		return nil
	}
	e.own("b")
	cut(former)
	again, err := protocol.Marshal(<-got)
	require.NoError(t, err)
	require.JSONEq(t, `{"threadId":"T","baseInstructions":"base","developerInstructions":"dev",
		"config":{"mcp_servers.x.command":"y"}}`, string(again))
}
