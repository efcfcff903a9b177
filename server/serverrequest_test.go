package server

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// responses collects the arguments of response functions.
type responses chan string

// receive implements a response function.
func (a responses) receive(result json.RawMessage, err error) {
	var refused *protocol.Error
	switch {
	case err == nil:
		a <- "result " + string(result)
	default:
		refused = err.(*protocol.Error)
		code, _ := json.Marshal(refused.Code)
		a <- "error " + string(code) + " " + refused.Message
	}
}

// next returns the next response, or "" if there is none.
func (a responses) next(p *peer) string {
	p.hear()
	select {
	case s := <-a:
		return s
	default:
		return ""
	}
}

func TestQuestions(t *testing.T) {
	for _, c := range []struct{ name, answer, want string }{
		{"result", `{"id":0,"result":{"decision":"accept"}}`, `result {"decision":"accept"}`},
		{"with jsonrpc", `{"jsonrpc":"2.0","id":0,"result":1}`, "result 1"},
		{"raw as it came", `{"id":0,"result":{"b":"<\u00e9>", "a":1e2,"A":[]}}`, `result {"b":"<\u00e9>", "a":1e2,"A":[]}`},
		{"null", `{"id":0,"result":null}`, "result null"},
		{"null error", `{"id":0,"result":"x","error":null}`, `result "x"`},
		{"in a batch", `[{"id":0,"result":[]}]`, "result []"},
		{"error", `{"id":0,"error":{"code":-32601,"message":"unsupported","data":[1]}}`, "error -32601 unsupported"},
		{"null result", `{"id":0,"result":null,"error":{"code":1,"message":"m"}}`, "error 1 m"},
		{"error without code", `{"id":0,"error":{"message":"denied"}}`, "error 0 denied"},
		{"error of another shape", `{"id":0,"error":"denied"}`, `error 0 "denied"`},
		{"members of other types", `{"id":0,"error":{"code":"x","message":5}}`, `error 0 {"code":"x","message":5}`},
		{"fractional code", `{"id":0,"error":{"code":1.5,"message":"m"}}`, "error 0 m"},
		{"both", `{"id":0,"result":{},"error":{"code":1,"message":"m"}}`,
			"error -32600 malformed response: it has both a result and an error"},
		{"neither", `{"id":0,"error":null}`, "error -32600 malformed response: it has neither a result nor an error"},
		{"id alone", `{"id":0}`, "error -32600 malformed response: it has neither a result nor an error"},
		{"with a method", `{"id":0,"method":"x","result":1}`, "error -32600 malformed response: it has a method"},
		{"two results", `{"id":0,"result":1,"result":2}`, "error -32600 malformed response: a name occurs twice in it"},
		{"two ids", `{"id":1,"id":0,"result":1}`, "error -32600 malformed response: a name occurs twice in it"},
		{"a name twice", `{"id":0,"result":{"a":[{"b":1,"b":1}]}}`,
			"error -32600 malformed response: a name occurs twice in it"},
		{"a name twice by an escape", `{"id":0,"result":{"a":1,"\u0061":1}}`,
			"error -32600 malformed response: a name occurs twice in it"},
		{"other case", `{"Id":0,"Result":1}`, ""},
		{"unknown id", `{"id":1,"result":1}`, ""},
		{"null id", `{"id":null,"result":1}`, ""},
		{"null id, error", `{"id":null,"error":{"code":-32700,"message":"x"}}`, ""},
		{"no id", `{"result":1}`, ""},
		{"negative id", `{"id":-0,"result":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			converse(t, func(t *testing.T, p *peer) {
				p.initialize()
				got := make(responses, 9)
				p.server.Ask(1, 0, "item/commandExecution/requestApproval", map[string]string{"command": "<&>"}, got.receive)
				require.Equal(t, []string{`{"jsonrpc":"2.0","id":0,"method":"item/commandExecution/requestApproval",` +
					`"params":{"command":"<&>"}}`}, p.hear())
				p.say(c.answer)
				require.Equal(t, c.want, got.next(p))
				if c.want == "" {
					p.say(`{"id":0,"result":"right"}`)
					require.Equal(t, `result "right"`, got.next(p), "the question is still open")
				}
				p.say(`{"id":0,"result":"again"}`)
				require.Empty(t, got.next(p), "one answer only")
				require.Equal(t, answerOf("1"), p.ask(requestOf("1")))
			})
		})
	}
}

// TestStrayResponses checks that each is logged once and has no other effect.
func TestStrayResponses(t *testing.T) {
	resolved := protocol.ServerRequestResolvedNotification{ThreadID: "t", RequestID: 3}
	for _, c := range []struct{ name, answer, log string }{
		{"resolved since", `{"id":3,"result":1}`, "late response dropped"},
		{"an error, resolved since", `{"id":3,"error":{"code":1,"message":"m"}}`, "late response dropped"},
		{"answered before", `{"id":0,"result":2}`, "late response dropped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			converse(t, func(t *testing.T, p *peer) {
				p.initialize()
				got := make(responses, 9)
				for _, id := range []uint64{0, 1, 3} {
					p.server.Ask(1, id, "q", nil, got.receive)
				}
				_ = p.hear()
				p.say(`{"id":0,"result":"first"}`)
				require.Equal(t, `result "first"`, got.next(p))
				p.server.Notify(1, resolved)
				_ = p.hear()
				_ = p.logs.TakeAll()
				p.say(c.answer)
				require.Empty(t, p.hear())
				require.Empty(t, got.next(p))
				logs := p.logs.TakeAll()
				require.Len(t, logs, 1)
				require.Equal(t, c.log, logs[0].Message)
				p.say(`{"id":1,"result":"right"}`)
				require.Equal(t, `result "right"`, got.next(p), "what is open can be answered")
			})
		})
	}
}

// TestUnknownIDResendsRequests checks that open requests are sent again, at most twice, and
// that a correct response counts.
func TestUnknownIDResendsRequests(t *testing.T) {
	for _, answer := range []string{`{"id":7,"result":1}`, `{"id":null,"result":1}`, `{"id":"0","result":1}`,
		`{"id":"00","result":1}`, `{"result":1}`, `{"Id":0,"Result":1}`, `{"id":[0],"error":1}`, `{}`} {
		t.Run(answer, func(t *testing.T) {
			converse(t, func(t *testing.T, p *peer) {
				p.initialize()
				got := make(responses, 9)
				p.server.Ask(1, 0, "q", nil, got.receive)
				asked := p.hear()
				for range maxResends {
					p.say(answer)
					heard := p.hear()
					require.Subset(t, heard, asked)
					require.Contains(t, heard[len(heard)-2], `"method":"warning"`)
				}
				p.say(answer)
				require.NotSubset(t, p.hear(), asked, "it is not asked again for ever")
				require.Empty(t, got.next(p))
				p.say(`{"id":0,"result":"right"}`)
				require.Equal(t, `result "right"`, got.next(p))
			})
		})
	}
}

// TestSecondResponseAtOnce sends two responses before the first one is handled.
func TestSecondResponseAtOnce(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		got := make(responses, 9)
		p.server.Ask(1, 0, "q", nil, got.receive)
		_ = p.hear()
		_ = p.logs.TakeAll()
		p.say(`{"id":0,"result":"first"}`, `{"id":0,"result":"second"}`)
		require.Equal(t, `result "first"`, got.next(p))
		require.Empty(t, got.next(p))
		require.Equal(t, 1, p.logs.Len())
	})
}

func TestQuestionsKeepTheirIDs(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		got := make(responses, 9)
		for _, id := range []uint64{7, 0, 1, 1<<63 + 1} {
			p.server.Ask(1, id, "q", nil, got.receive)
		}
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","id":7,"method":"q","params":null}`,
			`{"jsonrpc":"2.0","id":0,"method":"q","params":null}`,
			`{"jsonrpc":"2.0","id":1,"method":"q","params":null}`,
			`{"jsonrpc":"2.0","id":9223372036854775809,"method":"q","params":null}`,
		}, p.hear())
		for _, id := range []string{"9223372036854775809", "0", "7", "1"} {
			p.say(`{"id":` + id + `,"result":` + id + `}`)
			require.Equal(t, "result "+id, got.next(p))
		}
	})
}

func TestResolvedQuestion(t *testing.T) {
	resolved := protocol.ServerRequestResolvedNotification{ThreadID: "t", RequestID: 3}
	for name, n := range map[string]protocol.Notification{"value": resolved, "pointer": &resolved} {
		t.Run(name, func(t *testing.T) {
			converse(t, func(t *testing.T, p *peer) {
				got := make(responses, 9)
				p.server.Ask(1, 3, "q", nil, got.receive)
				p.server.Notify(1, n)
				require.Len(t, p.hear(), 2)
				p.say(`{"id":3,"result":"late"}`)
				require.Empty(t, got.next(p))
				p.server.Ask(1, 3, "q", nil, got.receive)
				require.Len(t, p.hear(), 1)
				p.say(`{"id":3,"result":"again"}`)
				require.Equal(t, `result "again"`, got.next(p), "the id can be asked again")
			})
		})
	}
}

// TestWithdrawnQuestion checks that a withdrawn request is not sent again, and that a late response has no effect.
func TestWithdrawnQuestion(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		got := make(responses, 9)
		p.server.Ask(1, 3, "withdrawn", nil, got.receive)
		p.server.Ask(1, 4, "open", nil, got.receive)
		require.Len(t, p.hear(), 2)
		p.server.Withdraw(1, 3)
		p.server.Withdraw(1, 99)
		p.say(`{"id":3,"result":"late"}`)
		require.Empty(t, got.next(p))
		p.say(`{"id":77,"result":"unknown"}`)
		for _, line := range p.hear() {
			require.NotContains(t, line, "withdrawn")
		}
		p.say(`{"id":4,"result":"right"}`)
		require.Equal(t, `result "right"`, got.next(p))
	})
}

// TestResolvedThoughOptedOut checks that a resolved request ignores responses, even if the
// client opted out of the notification.
func TestResolvedThoughOptedOut(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.ask(`{"id":0,"method":"initialize","params":{"clientInfo":{"name":"c","version":"1"},` +
			`"capabilities":{"optOutNotificationMethods":["serverRequest/resolved"]}}}`)
		got := make(responses, 9)
		p.server.Ask(1, 3, "q", nil, got.receive)
		p.server.Notify(1, protocol.ServerRequestResolvedNotification{RequestID: 3})
		require.Len(t, p.hear(), 1)
		p.say(`{"id":3,"result":"late"}`)
		require.Empty(t, got.next(p))
	})
}

// TestRepeatedRequest checks that a request that is sent again, as after a resume, gets one
// response.
func TestRepeatedRequest(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		first, second := make(responses, 9), make(responses, 9)
		p.server.Ask(1, 3, "q", nil, first.receive)
		p.server.Ask(1, 3, "q", nil, second.receive)
		require.Len(t, p.hear(), 2)
		p.say(`{"id":3,"result":1}`, `{"id":3,"result":2}`)
		require.Equal(t, "result 1", second.next(p))
		require.Empty(t, second.next(p))
		require.Empty(t, first.next(p))
	})
}

// TestRequestToClosedConnection checks that the response function is not called after the
// connection has ended.
func TestRequestToClosedConnection(t *testing.T) {
	got := make(responses, 9)
	converse(t, func(t *testing.T, p *peer) {
		p.server.Ask(1, 3, "q", nil, got.receive)
		p.server.Ask(2, 4, "q", nil, got.receive)
		require.Len(t, p.hear(), 1)
	})
	require.Empty(t, got)
}

// TestUnencodableRequest checks that a request that cannot be encoded is logged.
func TestUnencodableRequest(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		got := make(responses, 9)
		p.server.Ask(1, 3, "q", func() {}, got.receive)
		require.Empty(t, p.hear())
		require.Equal(t, 1, p.logged("message not sent"))
	})
}
