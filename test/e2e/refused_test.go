package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// refusesWith returns a provider's refusal of requests that contain a text.
func refusesWith(text string, status int, refusal string) func(string) (int, string) {
	return func(body string) (int, string) {
		if strings.Contains(body, text) {
			return status, refusal
		}
		return 0, ""
	}
}

// TestRefusedEncryptedReasoningIsNotSentAgain continues a thread whose encrypted reasoning the provider cannot read any
// more. The turn completes, the rollout remembers it, and new reasoning is sent.
func TestRefusedEncryptedReasoningIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"another key":          `{"error":{"message":"The encrypted content gAAA... could not be verified. Reason: Encrypted content could not be decrypted or parsed.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`,
		"another organization": `{"error":{"message":"The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.","type":"invalid_request_error","code":"invalid_encrypted_content"}}`,
		"no following item":    `{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","type":"invalid_request_error"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := strings.Replace(apptest.EncryptedReasoning, "SEALED", "FRESH", 1)
			hello := apptest.StreamAnswer(apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
			thinks := func(reasoning string) func(io.Writer) {
				return apptest.StreamAnswer(
					apptest.EventStream(apptest.ItemDone(reasoning), apptest.ItemDone(apptest.HelloMessage)))
			}
			p := apptest.ResponsesWire.NewProvider(t,
				thinks(apptest.EncryptedReasoning), thinks(fresh), hello, hello)
			locked := false
			p.Refuse = func(body string) (int, string) {
				if locked && strings.Contains(body, "SEALED") {
					return 400, refusal
				}
				return 0, ""
			}
			home := p.Home(t)
			c := apptest.StartServer(t, home)
			c.Initialize()
			thread := c.StartThread(apptest.Object{"cwd": t.TempDir()})
			c.Turn(thread, "one")
			c.Close()

			locked = true
			c = apptest.StartServer(t, home)
			c.Initialize()
			c.Call("thread/resume", apptest.Object{"threadId": thread})
			require.Equal(t, "completed", c.Turn(thread, "two").Status)
			require.Contains(t, strings.Join(c.Warnings(), "\n"), "cannot read encrypted content")
			require.Equal(t, map[string]string{"reasoning": "refused"}, notSent(c, thread))
			require.Len(t, p.Requests(), 3)
			c.Kill()

			c = apptest.StartServer(t, home)
			c.Initialize()
			c.Call("thread/resume", apptest.Object{"threadId": thread})
			require.Equal(t, "completed", c.Turn(thread, "three").Status)
			require.Len(t, p.Requests(), 4, "the rollout remembers what was refused")
			require.Contains(t, p.Requests()[3].Body, "FRESH")
			fork := gjson.GetBytes(c.Call("thread/fork", apptest.Object{"threadId": thread}), "thread.id").Str
			require.Equal(t, "completed", c.Turn(fork, "four").Status)
			require.Len(t, p.Requests(), 5, "a fork remembers it, too")
			c.Close()
		})
	}
}

// TestRefusedEncryptedCompactionSendsTheItemsBeforeIt continues a thread whose compaction the provider cannot read.
func TestRefusedEncryptedCompactionSendsTheItemsBeforeIt(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(2)...)
	p.Refuse = refusesWith("bm90IGZvciB1cw==", 400, `{"error":{"message":"could not be verified","code":"invalid_encrypted_content"}}`)
	home := switchHome(p, t)
	id := putSealed(t, home, "compaction")
	c := resumeWith(t, home, id, "sealing", "gpt-5.5")
	formsSent(c, id, sealedForm, originalItems)
	require.Equal(t, "completed", c.Turn(id, "third").Status)
	require.Contains(t, p.Requests()[1].Body, "no such file x.txt")
	formsSent(c, id, originalItems, sealedForm)
	require.Contains(t, strings.Join(c.Warnings(), "\n"), "The 6 items before it are in the context again.")
	reason := c.CallJSON("context/getItems", apptest.Object{"threadId": id}).Get(`items.#(id=="r20.1").notSentReason`).Str
	require.Equal(t, "refused", reason)
	require.Equal(t, "completed", c.Turn(id, "fourth").Status)
	require.Len(t, p.Requests(), 3)
	c.Close()
}

// TestRefusedImagesBecomeNotes sends an image that the provider refuses. The turn and all later ones complete.
func TestRefusedImagesBecomeNotes(t *testing.T) {
	t.Parallel()
	const url = apptest.TinyGIFURL
	for refusal, textOnly := range map[string]bool{
		`{"error":{"message":"The image data you provided does not represent a valid image.","code":"invalid_value"}}`: false,
		`{"error":{"message":"unknown variant image_url, expected text"}}`:                                             true,
	} {
		for _, wire := range []apptest.WireAPI{apptest.ChatWire, apptest.ResponsesWire} {
			t.Run(fmt.Sprint(wire, textOnly), func(t *testing.T) {
				t.Parallel()
				p := wire.NewProvider(t, apptest.TextAnswer("a"), apptest.TextAnswer("b"), apptest.TextAnswer("c"))
				p.Refuse = refusesWith("base64,", 400, refusal)
				c := apptest.StartServer(t, p.Home(t))
				c.Initialize()
				id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
				look := []apptest.Object{{"type": "text", "text": "look"}, {"type": "image", "url": url}}
				c.Call("turn/start", apptest.Object{"threadId": id, "input": look})
				require.Equal(t, "completed", c.AwaitTurn().Status)
				require.Contains(t, p.Requests()[1].Body, "[An image is left out here: ")
				require.Contains(t, strings.Join(c.Warnings(), "\n"), "A note stands in the place of each")
				require.Equal(t, "completed", c.Turn(id, "more").Status)
				require.Len(t, p.Requests(), 3, "the refusal is remembered")
				c.Close()
			})
		}
	}
}

// TestContentThatIsNoImageIsNotSent sends what is called an image and is none.
func TestContentThatIsNoImageIsNotSent(t *testing.T) {
	t.Parallel()
	urls := []string{"data:image/svg+xml;base64,PHN2Zy8+", "data:image/png;base64,!!!", "data:text/plain;base64,aGk=", "file:///etc/hostname",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n")), ""}
	p := apptest.NewProvider(t, countingAnswers(len(urls))...)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	for _, url := range urls {
		look := []apptest.Object{{"type": "text", "text": "look"}, {"type": "image", "url": url}}
		c.Call("turn/start", apptest.Object{"threadId": id, "input": look})
		require.Equal(t, "completed", c.AwaitTurn().Status)
	}
	c.Close()
	last := p.Requests()[len(urls)-1].Body
	require.NotContains(t, last, "image_url")
	require.Equal(t, len(urls), strings.Count(last, "[an image is left out: "))
}

// mistralRoles refuses requests as the templates of Mistral do: the user and the assistant take turns, and calls do not
// count.
func mistralRoles(body string) (int, string) {
	turn, index := "user", 0
	for _, m := range gjson.Get(body, "messages").Array() {
		role := m.Get("role").Str
		if role == "tool" || role == "assistant" && m.Get("tool_calls").Exists() || role == "system" && index == 0 {
			continue
		}
		if index++; role != turn {
			return 500, `{"error":{"code":500,"message":"got exception: raise_exception(\"After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.\")","type":"server_error"}}`
		}
		turn = map[string]string{"user": "assistant", "assistant": "user"}[role]
	}
	return 0, ""
}

// TestTemplatesWithAlternatingRolesAreServed runs a turn whose first request needs nothing learned, and an interrupted
// one, after which the next message of the user follows the output of a tool.
func TestTemplatesWithAlternatingRolesAreServed(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("a"), apptest.ShellAnswer("call_1", "echo ready; sleep 30"),
		apptest.TextAnswer("b"))
	p.Refuse = mistralRoles
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
	require.Equal(t, "completed", c.Turn(id, "one").Status)
	require.Len(t, p.Requests(), 1, "the environment and the text of the user are one message")
	turn := c.BeginTurn(id, "two")
	c.UntilMethod("item/commandExecution/outputDelta")
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	c.AwaitTurn()
	require.Equal(t, "completed", c.Turn(id, "three").Status)
	require.Empty(t, c.Warnings(), "the request says the same")
	c.Close()
}

// TestTemplatesBehindTheResponsesAPIAreServed has a server that makes messages for a chat template of the input. The
// first request teaches that neighbouring messages of the user are refused.
func TestTemplatesBehindTheResponsesAPIAreServed(t *testing.T) {
	t.Parallel()
	p := apptest.ResponsesWire.NewProvider(t, countingAnswers(2)...)
	p.Refuse = func(body string) (int, string) {
		last := ""
		for _, item := range gjson.Get(body, "input").Array() {
			role := item.Get("role").Str
			if role == "user" && last == role {
				return 500, `{"error":{"code":500,"message":"Jinja Exception: Conversation roles must alternate","type":"server_error"}}`
			}
			last = role
		}
		return 0, ""
	}
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	require.Equal(t, "completed", c.Turn(id, "one").Status)
	require.Equal(t, "completed", c.Turn(id, "two").Status)
	require.Len(t, p.Requests(), 3)
	require.Contains(t, p.Requests()[2].Body, "<environment_context>")
	c.Close()
}

// TestARefusedToolIsLeftOut leaves out the client's tool whose schema the provider refuses, and says so once.
func TestARefusedToolIsLeftOut(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(2)...)
	p.Refuse = refusesWith(`"odd_tool"`, 400, `{"error":{"message":"Invalid schema for function 'odd_tool': it is odd.","code":"invalid_function_parameters"}}`)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "dynamicTools": []apptest.Object{
		{"type": "function", "name": "odd_tool", "description": "d", "inputSchema": apptest.Object{"type": "object"}}}})
	for range 2 {
		require.Equal(t, "completed", c.Turn(id, "go").Status)
	}
	c.Close()
	require.Len(t, p.Requests(), 3)
	require.Equal(t, 1, strings.Count(strings.Join(c.Warnings(), "\n"), "refused the tool odd_tool"))
}

// TestStoreIsNeverLeftOutByItself has a provider that refuses store: false.
func TestStoreIsNeverLeftOutByItself(t *testing.T) {
	t.Parallel()
	p := apptest.ResponsesWire.NewProvider(t, apptest.TextAnswer("a"))
	p.Refuse = refusesWith(`"store"`, 400, `{"error":{"message":"Unknown parameter: 'store'.","param":"store","code":"unknown_parameter"}}`)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	turn := c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go")
	require.Equal(t, "failed", turn.Status)
	require.Contains(t, turn.Error.Message, "set omit_store = true")
	require.Len(t, p.Requests(), 1)
	c.Close()

	c = apptest.StartServer(t, p.Home(t), "-c", "model_providers.test.omit_store=true")
	c.Initialize()
	require.Equal(t, "completed", c.Turn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go").Status)
	c.Close()
}

// TestTheWindowOfAnErrorIsLearned has a server whose window only its error states. The turn goes on after a compaction,
// and later requests fit into the window.
func TestTheWindowOfAnErrorIsLearned(t *testing.T) {
	t.Parallel()
	answers := append([]func(io.Writer){apptest.ShellAnswer("call_1", "seq 20000")}, countingAnswers(4)...)
	p := apptest.NewProvider(t, answers...)
	small := false
	p.Refuse = func(body string) (int, string) {
		if !small || len(body) < 40_000 {
			return 0, ""
		}
		return 400, `{"error":{"code":400,"message":"request (19886 tokens) exceeds the available context size (16384 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":19886,"n_ctx":16384}}`
	}
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
	require.Equal(t, "completed", c.Turn(id, "go").Status)
	small = true
	turn := c.Turn(id, "more")
	require.Equal(t, "completed", turn.Status, turn.Error)
	require.Len(t, p.Requests(), 5, "two answers, a refusal, a summary and an answer")
	c.Turn(id, "again")
	items := c.CallJSON("context/getItems", apptest.Object{"threadId": id})
	require.EqualValues(t, 16384, items.Get("usage.modelContextWindow").Int(), items.Raw)
	c.Close()
}
