//go:build reference

package interchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// aisdk is a program that uses a provider of the Vercel AI SDK.
type aisdk struct{ *apptest.Client }

// aisdkAnswer is the program's report of a turn.
type aisdkAnswer struct {
	Text, FinishReason string
	Kinds              []string
	Usage              struct{ InputTokens, OutputTokens any }
	Metadata           map[string]struct{ ThreadID, SessionID string }
}

func (w *workshop) aisdk(sdk, provider string, settings apptest.Object) aisdk {
	w.t.Helper()
	settings["codexPath"] = filepath.Join(w.bin, "codex") // otherwise it would find the reference's package first
	given, err := json.Marshal(settings)
	require.NoError(w.t, err)
	return aisdk{w.start(w.harness("aisdk.mjs"), sdk, provider, "offline", string(given))}
}

func (a aisdk) turn(method string, params apptest.Object) (r aisdkAnswer) {
	a.T.Helper()
	require.NoError(a.T, json.Unmarshal(a.Call(method, params), &r))
	return r
}

// sdkScript has slow answers, failures, and a command. All other answers contain the number of
// messages in the request.
const sdkScript = `{"steps":[
	{"match":"slow","deltas":["One, ","two, ","three."],"gapMs":20000},
	{"match":"fail","error":{"status":400,"message":"no such model here"}},
	{"match":"break","error":{"status":400,"message":"no such model here"}}]}`

func TestReferenceClientAISDK(t *testing.T) {
	w := scriptedWorkshop(t, sdkScript)
	a := w.aisdk("ai", "ai-sdk-provider-codex-cli",
		apptest.Object{"cwd": w.project, "sandboxPolicy": "danger-full-access", "approvalPolicy": "never"})
	first := a.everything()
	require.NotZero(t, first.Usage.InputTokens)
	require.Contains(t, a.CallRejected("stream", apptest.Object{"prompt": "fail"}).Message, "no such model here")
	require.Contains(t, a.CallRejected("generate", apptest.Object{"prompt": "break"}).Message, "no such model here")

	persistent := a.turn("generate",
		apptest.Object{"prompt": "keep it", "options": apptest.Object{"threadMode": "persistent"}})
	thread := persistent.Metadata["codex-app-server"].ThreadID
	again := a.turn("generate", apptest.Object{"prompt": "and more", "options": apptest.Object{"threadId": thread}})
	require.Equal(t, thread, again.Metadata["codex-app-server"].ThreadID)
	require.Greater(t, messagesHeld(t, again.Text), messagesHeld(t, persistent.Text), "the history is kept")
	a.Close()
	w.conforms("ai-sdk-provider-codex-cli 2.2.1")
}

// TestReferenceClientAISDKApprovals configures the provider to accept or to decline.
func TestReferenceClientAISDKApprovals(t *testing.T) {
	for _, approves := range []bool{true, false} {
		t.Run(fmt.Sprint(approves), func(t *testing.T) {
			w := scriptedWorkshop(t, `{"steps":[`+outsideStep("touch it", "touched")+`]}`)
			a := w.aisdk("ai", "ai-sdk-provider-codex-cli",
				apptest.Object{"cwd": w.project, "sandboxPolicy": "read-only", "approvalPolicy": "on-request",
					"autoApprove": approves})
			require.Contains(t, a.turn("stream", apptest.Object{"prompt": "touch it"}).Kinds, "tool-result")
			_, err := os.Stat(filepath.Join(w.project, "touched"))
			require.Equal(t, approves, err == nil)
			a.Close()
			w.conforms(fmt.Sprintf("ai-sdk-provider-codex-cli 2.2.1, autoApprove %t", approves))
		})
	}
}

func TestReferenceClientAISDKAppServer(t *testing.T) {
	w := scriptedWorkshop(t, sdkScript)
	settings := apptest.Object{"cwd": w.project, "sandboxMode": "danger-full-access", "approvalMode": "never",
		"threadMode": "persistent"}
	a := w.aisdk("ai-6", "ai-sdk-provider-codex-app-server", settings)
	a.everything()
	session := a.turn("stream", apptest.Object{"prompt": "which thread is it?"}).Metadata["codex"].SessionID
	require.NotEmpty(t, session)
	// The provider returns errors as the model's text.
	require.Contains(t, a.turn("stream", apptest.Object{"prompt": "fail"}).Text, "no such model here")
	require.Contains(t, a.turn("generate", apptest.Object{"prompt": "break"}).Text, "no such model here")
	a.Close()

	settings["resume"] = session
	a = w.aisdk("ai-6", "ai-sdk-provider-codex-app-server", settings)
	require.Greater(t, messagesHeld(t, a.turn("generate", apptest.Object{"prompt": "and more"}).Text), 3,
		"the history is kept")
	a.Close()
	w.conforms("ai-sdk-provider-codex-app-server 1.1.7")
}

// everything uses all features that both providers have. It returns the answer to the first call.
func (a aisdk) everything() aisdkAnswer {
	a.T.Helper()
	first := a.turn("generate", apptest.Object{"prompt": "hello"})
	require.Contains(a.T, first.Text, "Hello! You said: ")
	require.Equal(a.T, "stop", first.FinishReason)

	streamed := a.turn("stream", apptest.Object{"prompt": "run: echo $((6*7))"})
	require.Contains(a.T, streamed.Text, "42")
	require.Subset(a.T, streamed.Kinds, []string{"tool-call", "tool-result", "text-delta", "finish"})

	require.Contains(a.T, string(a.Call("models", apptest.Object{})), `"id":"offline"`)

	aborted := a.turn("stream", apptest.Object{"prompt": "slow", "abort": true})
	require.Equal(a.T, "One, ", aborted.Text)
	require.Equal(a.T, "abort", aborted.Kinds[len(aborted.Kinds)-1])
	return first
}

// messagesHeld returns the number of messages that an answer contains.
func messagesHeld(t *testing.T, text string) (n int) {
	t.Helper()
	_, rest, _ := strings.Cut(text, "This request holds ")
	_, err := fmt.Sscanf(rest, "%d messages", &n)
	require.NoError(t, err, text)
	return n
}
