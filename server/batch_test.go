package server

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBatches(t *testing.T) {
	checkExchanges(t, []exchange{
		{"one", "[" + requestOf("1") + "]", "[" + answerOf("1") + "]"},
		{"several", " [ " + requestOf("1") + " , " + requestOf(`"b"`) + " ] ",
			"[" + answerOf("1") + "," + answerOf(`"b"`) + "]"},
		{"notifications give nothing", `[{"method":"initialized"},{"method":"no/such"}]`, ""},
		{"with a notification", `[{"method":"initialized"},` + requestOf("1") + `]`, "[" + answerOf("1") + "]"},
		{"answers give nothing", `[{"id":5,"result":{}}]`, ""},
		{"empty", "[]", invalid("null", "empty batch")},
		{"empty with space", "[ ]", invalid("null", "empty batch")},
		{"not JSON", "[1", refusal("null", "-32700", "Parse error: unexpected end of JSON input", "parseError")},
		{"invalid members", `[1,[],{"id":3}]`,
			"[" + invalid("null", "expected an object") + "," + invalid("null", "expected an object") + "," +
				invalid("3", "missing field `method`") + "]"},
		{"errors among answers", "[" + requestOf("null") + "," + requestOf("1") + `,{"id":2,"method":"no/such"}]`,
			"[" + invalid("null", badID) + "," + answerOf("1") + "," +
				refusal("2", "-32601", "Method not found: no/such", "methodNotFound") + "]"},
		{"panic inside", `[{"id":1,"method":"thread/loaded/list"},` + requestOf("2") + "]",
			"[" + refusal("1", "-32603", "thread/loaded/list failed: internal error; details are in the server's log",
				"internal") + "," + answerOf("2") + "]"},
	})
}

// TestBatchAnswersLater checks that the responses of a batch may be ready in any order.
func TestBatchAnswersLater(t *testing.T) {
	const held = `{"id":"h","method":"thread/read","params":{"threadId":"t"}}`
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.say("["+held+","+held+","+requestOf("1")+"]", requestOf("2"))
		require.Equal(t, []string{answerOf("2")}, p.hear(), "the batch waits for its last answer")
		p.server.Reply(p.handler.held[1], 1)
		require.Empty(t, p.hear())
		p.server.Reply(p.handler.held[0], 0)
		require.Equal(t, []string{
			"[" + answerOf("1") + `,{"jsonrpc":"2.0","id":"h","result":1},{"jsonrpc":"2.0","id":"h","result":0}]`,
		}, p.hear())
	})
}

func TestHandshakeInsideBatch(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		require.Equal(t, "["+refusal("1", "-32600", "Not initialized",
			"notInitialized")+","+initializeAnswer+","+answerOf("2")+"]",
			p.ask("["+requestOf("1")+","+initializeLine+","+requestOf("2")+"]"))
	})
}

func TestLargeBatch(t *testing.T) {
	few := func(s *Server) { s.limits.batch = 3 }
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		require.Equal(t, "["+answerOf("1")+","+answerOf("1")+","+answerOf("1")+"]",
			p.ask("["+requestOf("1")+strings.Repeat(","+requestOf("1"), 2)+"]"))
		require.Equal(t, invalid("null", "a batch of more than 3 messages"),
			p.ask("["+requestOf("1")+strings.Repeat(","+requestOf("1"), 3)+"]"))
		require.Equal(t, answerOf("2"), p.ask(requestOf("2")), "nothing of the large batch is left")
	}, few)
}

// TestBatchedResponsesAreBounded fills several incomplete batches with responses. Their memory
// is bounded, and every request still gets one response.
func TestBatchedResponsesAreBounded(t *testing.T) {
	const held, requests, size = `{"id":"h","method":"thread/read","params":{"threadId":"t"}}`, 20, 7 << 20
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		batch := "[" + strings.Repeat(held+",", requests/2-1) + held + "]"
		p.say(batch, batch)
		require.Empty(t, p.hear())
		before := heap()
		for i, to := range p.handler.held {
			if i%(requests/2) > 0 {
				p.server.Reply(to, strings.Repeat("x", size))
				require.Empty(t, p.hear())
			}
		}
		require.Less(t, heap()-before, 2*maxBatchedBytes)
		p.server.Reply(p.handler.held[0], "last")
		p.server.Reply(p.handler.held[requests/2], "last")
		heard := p.hear()
		require.Len(t, heard, 2)
		require.Equal(t, requests/2, strings.Count(heard[0], `"result":`), "what has come before waits")
		require.Equal(t, 1, strings.Count(heard[1], `"result":"x`), "what comes later is left out")
		require.Equal(t, requests/2-2, strings.Count(heard[1], `"kind":"overloaded"`))
		require.Contains(t, heard[1], `"result":"last"`)
		require.Equal(t, "["+answerOf("1")+"]", p.ask("["+requestOf("1")+"]"), "there is room again")
	})
}
