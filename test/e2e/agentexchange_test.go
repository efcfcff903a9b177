package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestPeerMessagesReachModel continues a thread of the reference implementation whose agents sent messages. The model
// gets them as messages of the user, and the calls under the names of the tools that it has.
func TestPeerMessagesReachModel(t *testing.T) {
	t.Parallel()
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, apptest.TextAnswer("fine"), apptest.TextAnswer("fine"))
		home := p.Home(t)
		root, child := apptest.PutAgents(t, home)
		c := apptest.StartServer(t, home)
		c.Initialize()
		for _, id := range []string{root, child} {
			c.Call("thread/resume", apptest.Object{"threadId": id, "model": "test", "modelProvider": "test", "cwd": home})
			require.Equal(t, "completed", c.Turn(id, "go on").Status)
		}
		requests := p.Requests()
		sent := strings.Join(requests[0].Conversation(t), "\n")
		require.Contains(t, sent, "Sender: /root/child_a\nPayload:\nA is done")
		require.Contains(t, sent, "Sender: /root\nPayload:\nself")
		require.Equal(t, "spawn_agent", firstCall(requests[0]))
		require.NotContains(t, requests[0].Body, "collaboration")
		require.NotContains(t, requests[0].Body, protocol.PeerMessageType+`"`)
		require.Contains(t, strings.Join(requests[1].Conversation(t), "\n"),
			"user: Message Type: NEW_TASK\nTask name: /root/child_a\nSender: /root\nPayload:\nchildA: count")
		c.Close()
	})
}

// firstCall returns the name of the tool of the first call in a request.
func firstCall(request apptest.ChatRequest) string {
	for _, raw := range request.Messages {
		if name := gjson.GetBytes(raw, "tool_calls.0.function.name").Str; name != "" {
			return name
		}
	}
	return ""
}

// TestPeerMessagesAreContextItems lists messages between agents with their authors, excludes one, and requires that the
// rewrite of the rollout leaves the others as they are.
func TestPeerMessagesAreContextItems(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesBackup)
	t.Parallel()
	p := apptest.NewProvider(t)
	home := p.Home(t)
	root, child := apptest.PutAgents(t, home)
	before := peerLines(t, home, root)
	require.Len(t, before, 5)
	c := apptest.StartServer(t, home)
	c.Initialize()
	for _, id := range []string{root, child} {
		c.Call("thread/resume", apptest.Object{"threadId": id, "model": "test", "modelProvider": "test", "cwd": home})
	}
	list := c.ContextList(child)
	require.Len(t, apptest.FindItems(list, protocol.CategoryUserMessage, "/root → childA: count"), 1)
	list = c.ContextList(root)
	answers := apptest.FindItems(list, protocol.CategoryOther, "/root/child_a → A is done")
	require.Len(t, answers, 1)
	for _, item := range list.Items {
		if item.ID == answers[0] {
			require.True(t, item.InPrompt)
			require.Greater(t, item.Tokens, int64(10))
			require.Less(t, item.Bytes, int64(100), "the text is counted, and not the JSON")
		}
	}
	require.Contains(t, strings.Join(apptest.PromptOf(c, root), "\n"), "A is done")
	c.Call("context/setInclusion", apptest.Object{"threadId": root, "ids": answers, "included": false})
	require.NotContains(t, strings.Join(apptest.PromptOf(c, root), "\n"), `Payload:\nA is done`)
	c.Close()
	require.Equal(t, before[1:], peerLines(t, home, root), "the reference implementation finds the others unchanged")
}

// peerLines returns the payloads of the messages between agents in a rollout.
func peerLines(t *testing.T, home, id string) (payloads []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "sessions/2026/11/28/rollout-2026-11-28T20-31-18-"+id+".jsonl"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if payload := gjson.Get(line, "payload"); payload.Get("type").Str == protocol.PeerMessageType &&
			payload.Get("author").Exists() {
			payloads = append(payloads, payload.Raw)
		}
	}
	return payloads
}

// TestListsHaveAgentsWithoutUserMessage lists the agents of a thread to which no user has written.
func TestListsHaveAgentsWithoutUserMessage(t *testing.T) {
	t.Parallel()
	home := apptest.NewProvider(t).Home(t)
	root, child := apptest.PutAgents(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	for range 2 { // from the files, and from the index
		for _, relation := range []string{"parentThreadId", "ancestorThreadId"} {
			listed := c.CallJSON("thread/list", apptest.Object{relation: root, "modelProviders": []string{}}).Get("data")
			require.Equal(t, []string{child}, itemIDs(listed, "#.id"), relation)
			require.Equal(t, "Copernicus", listed.Get("0.agentNickname").Str)
		}
	}
	c.Close()
}

// TestAgentsOfReferenceContinue gives an agent that the reference implementation started another task.
func TestAgentsOfReferenceContinue(t *testing.T) {
	t.Parallel()
	p := apptest.ChatWire.NewRuledModel(t,
		apptest.Rule{Last: "go on", Calls: []apptest.ToolCall{
			call("followup_task", apptest.Object{"target": "child_a", "message": "one more"}),
			call("wait_agent", apptest.Object{})}},
		apptest.Rule{Last: "one more", Text: "it is done"})
	home := pathsHome(t, p)
	root, child := apptest.PutAgents(t, home)
	c := apptest.StartServer(t, home, "-c", `model_providers.mock.base_url="`+p.Server.URL+`/v1"`,
		"-c", `model_providers.mock.name="mock"`)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": root, "cwd": home})
	c.BeginTurn(root, "go on")
	require.Equal(t, "completed", awaitTurnOf(c, root))
	require.Contains(t, string(apptest.JoinRaw(requestWith(t, p, "it is done").Messages)), `Payload:\nit is done`)
	worked := strings.Join(requestOfPath(t, p, "/root/child_a").Conversation(t), "\n")
	require.Contains(t, worked, "Payload:\nchildA: count")
	require.Contains(t, worked, "Payload:\none more")
	require.Len(t, c.ReadThread(child).Turns, 3)
	c.Close()
}
