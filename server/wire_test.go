package server

import (
	"strings"
	"testing"

	"appserver/test/sample"

	"github.com/stretchr/testify/require"
)

// refusal returns an error response.
func refusal(id, code, message, kind string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"` + message + `","data":{"kind":"` +
		kind + `"}}}`
}

func invalid(id, message string) string {
	return refusal(id, "-32600", "Invalid request: "+message, "invalidRequest")
}

func answerOf(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{"model":"m"}}` }

func requestOf(id string) string { return `{"id":` + id + `,"method":"model/list"}` }

// exchange is a line to the server and its response, or "".
type exchange struct{ name, line, want string }

// checkExchanges sends each line on an initialized connection of its own.
func checkExchanges(t *testing.T, exchanges []exchange) {
	for _, x := range exchanges {
		t.Run(x.name, func(t *testing.T) {
			converse(t, func(t *testing.T, p *peer) {
				p.initialize()
				p.say(x.line)
				var want []string
				if x.want != "" {
					want = []string{x.want}
				}
				require.Equal(t, want, p.hear())
				require.Equal(t, answerOf(`"next"`), p.ask(requestOf(`"next"`)), "the connection goes on")
			})
		})
	}
}

func missingMethod(id string) string { return invalid(id, "missing field `method`") }

const badID = "`id` must be a string or a number"

func TestFraming(t *testing.T) {
	checkExchanges(t, []exchange{
		{"crlf", requestOf("1") + "\r", answerOf("1")},
		{"space around", " \t" + requestOf("1") + " \t", answerOf("1")},
		{"blank", "", ""},
		{"only space", " \t \r", ""},
		{"jsonrpc 2.0", `{"jsonrpc":"2.0","id":1,"method":"model/list"}`, answerOf("1")},
		{"any jsonrpc", `{"jsonrpc":1,"id":1,"method":"model/list"}`, answerOf("1")},
		{"unknown members", `{"id":1,"method":"model/list","trace":{"a":[1]}}`, answerOf("1")},
		{"duplicate members, the last counts", `{"id":1,"id":2,"method":"x","method":"model/list"}`, answerOf("2")},
		{"escaped member name", `{"\u0069d":1,"method":"model\/list"}`, answerOf("1")},
		{"names have their case", `{"ID":1,"Method":"model/list"}`, missingMethod("null")},
	})
}

func TestIDsComeBackAsTheyCame(t *testing.T) {
	checkExchanges(t, []exchange{
		{"id 0", requestOf("0"), answerOf("0")},
		{"negative id", requestOf("-1"), answerOf("-1")},
		{"fractional id", requestOf("1.50"), answerOf("1.50")},
		{"exponent", requestOf("1E+2"), answerOf("1E+2")},
		{"huge id", requestOf("123456789012345678901234567890"), answerOf("123456789012345678901234567890")},
		{"string id", requestOf(`"a1"`), answerOf(`"a1"`)},
		{"empty string id", requestOf(`""`), answerOf(`""`)},
		{"number in a string", requestOf(`"1"`), answerOf(`"1"`)},
		{"escapes in the id stay", requestOf(`"\u00e9\/<&\ud800"`), answerOf(`"\u00e9\/<&\ud800"`)},
		{"unicode id", requestOf(`"é🙂"`), answerOf(`"é🙂"`)},
		{"invalid UTF-8 in the id", requestOf("\"\xff\""), invalid("null", badID)},
		{"null id", requestOf("null"), invalid("null", badID)},
		{"boolean id", requestOf("true"), invalid("null", badID)},
		{"array id", requestOf("[1]"), invalid("null", badID)},
		{"object id", requestOf("{}"), invalid("null", badID)},
	})
}

// TestInvalidMessages sends lines that are not messages, or that cannot be served.
func TestInvalidMessages(t *testing.T) {
	notObject := invalid("null", "expected an object or an array of objects")
	ambiguous := func(id string) string { return invalid(id, "`method` together with `result` or `error`") }
	checkExchanges(t, []exchange{
		{"not JSON", `{"id":1,`, refusal("null", "-32700", "Parse error: unexpected end of JSON input", "parseError")},
		{"two values", `{} {}`, refusal("null", "-32700", "Parse error: invalid character '{' after top-level value",
			"parseError")},
		{"NUL", "\x00", refusal("null", "-32700", `Parse error: invalid character '\\x00' looking for beginning of value`,
			"parseError")},
		{"byte order mark later on", "\ufeff{}",
			refusal("null", "-32700", "Parse error: invalid character 'ï' looking for beginning of value", "parseError")},
		{"nested too deeply", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000),
			refusal("null", "-32700", "Parse error: invalid character '[' exceeded max depth", "parseError")},
		{"nested too deeply inside",
			`{"id":1,"method":"model/list","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_001),
			refusal("null", "-32700", "Parse error: invalid character '{' exceeded max depth", "parseError")},
		{"number", "42", notObject},
		{"string", `"x"`, notObject},
		{"null", "null", notObject},
		{"empty object", "{}", missingMethod("null")},
		{"id alone", `{"id":99}`, missingMethod("99")},
		{"id alone, unreadable", `{"id":[]}`, missingMethod("null")},
		{"method is null", `{"id":1,"method":null}`, invalid("1", "`method` must be a string")},
		{"method is a number", `{"id":"x","method":5}`, invalid(`"x"`, "`method` must be a string")},
		{"method and result", `{"id":1,"method":"model/list","result":{}}`, ambiguous("1")},
		{"method and error, no id", `{"method":"model/list","error":{}}`, ambiguous("null")},
		{"method and nulls", `{"id":1,"method":"model/list","params":null,"result":null,"error":null}`, answerOf("1")},
	})
}

// TestMessagesWithoutResponse sends notifications and unexpected responses.
func TestMessagesWithoutResponse(t *testing.T) {
	checkExchanges(t, []exchange{
		{"initialized", `{"method":"initialized"}`, ""},
		{"initialized with params", `{"method":"initialized","params":{}}`, ""},
		{"unknown notification", `{"method":"no/such","params":[1]}`, ""},
		{"a request's method as a notification", `{"method":"thread/loaded/list"}`, ""},
		{"answer to an unknown id", `{"id":5,"result":{}}`, ""},
		{"answer with a string id", `{"id":"5","result":{}}`, ""},
		{"answer without id", `{"result":{}}`, ""},
		{"error with a null id", `{"id":null,"error":{"code":-1,"message":"x"}}`, ""},
		{"result and error", `{"id":0,"result":{},"error":{"code":1,"message":"x"}}`, ""},
		{"neither", `{"id":0,"error":null}`, ""},
	})
}

func TestParams(t *testing.T) {
	checkExchanges(t, []exchange{
		{"null params", `{"id":1,"method":"model/list","params":null}`, answerOf("1")},
		{"array params", `{"id":1,"method":"model/list","params":[]}`,
			refusal("1", "-32602", "Invalid request: `params` must be an object", "invalidParams")},
		{"string params", `{"id":1,"method":"model/list","params":"x"}`,
			refusal("1", "-32602", "Invalid request: `params` must be an object", "invalidParams")},
		{"invalid UTF-8 in params", "{\"id\":1,\"method\":\"model/list\",\"params\":{\"cursor\":\"\xff\"}}", answerOf("1")},
		{"duplicate keys in params", `{"id":1,"method":"model/list","params":{"cursor":"a","cursor":"b"}}`, answerOf("1")},
	})
}

func TestDispatch(t *testing.T) {
	checkExchanges(t, []exchange{
		{"unknown method", `{"id":1,"method":"no/such"}`,
			refusal("1", "-32601", "Method not found: no/such", "methodNotFound")},
		{"invalid UTF-8 in the method", "{\"id\":1,\"method\":\"\xff\"}",
			refusal("1", "-32601", "Method not found: \ufffd", "methodNotFound")},
		{"no HTML escapes", `{"id":1,"method":"<&>"}`, refusal("1", "-32601", "Method not found: <&>", "methodNotFound")},
		{"long method", `{"id":1,"method":"` + strings.Repeat("x", 1000) + `"}`,
			refusal("1", "-32601", "Method not found: "+strings.Repeat("x", 200), "methodNotFound")},
		{"the vendor's cloud", `{"id":1,"method":"plugin/list"}`,
			refusal("1", "-32601", "Method not found: plugin/list (not available: it needs the vendor's cloud)",
				"methodNotFound")},
		{"refusal without kind", `{"id":1,"method":"turn/steer","params":{"threadId":"t","input":[],"expectedTurnId":"u"}}`,
			refusal("1", "-32600", "no active turn to steer", "invalidRequest")},
		{"wrapped refusal", `{"id":1,"method":"turn/interrupt","params":{"threadId":"t","turnId":"u"}}`,
			refusal("1", "-32600", "no active turn to interrupt", "noActiveTurn")},
		{"plain error", `{"id":1,"method":"thread/list"}`, refusal("1", "-32603", "disk on fire", "internal")},
		{"panic", `{"id":1,"method":"thread/loaded/list"}`,
			refusal("1", "-32603", "thread/loaded/list failed: internal error; details are in the server's log", "internal")},
		{"result that is no JSON", `{"id":1,"method":"config/read"}`, refusal("1", "-32603", "The response cannot "+
			"be encoded: encoding func(): json: unsupported type: func()", "internal")},
		{"several answers", `{"id":1,"method":"thread/name/set","params":{"threadId":"t","name":"n"}}`,
			`{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"initialize again", initializeLine, refusal("0", "-32600", "Already initialized", "alreadyInitialized")},
	})
}

// TestErrorNamesField checks that an error names the invalid member of params.
func TestErrorNamesField(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		require.Equal(t,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid request: missing field `+
				"`threadId`"+`","data":{"kind":"invalidParams","field":"threadId"}}}`,
			p.ask(`{"id":1,"method":"thread/read","params":{}}`))
	})
}

// TestHandlerPanicIsLogged checks that the log has the stack of the handler.
func TestHandlerPanicIsLogged(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.ask(`{"id":1,"method":"thread/loaded/list"}`)
		entries := p.logs.FilterMessage("handler panicked").All()
		require.Len(t, entries, 1)
		fields := entries[0].ContextMap()
		require.Equal(t, "handler bug", fields["panic"])
		require.Contains(t, fields["stack"], "ThreadLoadedList")
	})
}

// TestByteOrderMark checks that a mark before the first line is skipped.
func TestByteOrderMark(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		require.Equal(t, initializeAnswer, p.ask("\ufeff"+initializeLine))
	})
}

// TestLastLineNeedsNoEnd checks that a last line without LF is served.
func TestLastLineNeedsNoEnd(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		_, err := p.in.Write([]byte(requestOf("1")))
		require.NoError(t, err)
		require.NoError(t, p.in.Close())
		require.Equal(t, []string{answerOf("1")}, p.hear())
	})
}

// TestSameIDTwice checks that requests with the same id each get a response.
func TestSameIDTwice(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		held := `{"id":7,"method":"thread/read","params":{"threadId":"t"}}`
		p.say(held, held, requestOf("7"))
		require.Equal(t, []string{answerOf("7")}, p.hear())
		p.server.Reply(p.handler.held[1], "second")
		p.server.Reply(p.handler.held[0], "first")
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","id":7,"result":"second"}`,
			`{"jsonrpc":"2.0","id":7,"result":"first"}`,
		}, p.hear())
	})
}

// TestResponsePrecedesNotification checks that output keeps the order of calls.
func TestResponsePrecedesNotification(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.say(`{"id":"a","method":"turn/start","params":{"threadId":"t","input":[]}}`)
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","id":"a","result":{}}`,
			`{"jsonrpc":"2.0","method":"thread/closed","params":{"threadId":"t"},"emittedAtMs":946684800000}`,
		}, p.hear())
	})
}

// TestLargeLines checks both sides of the 64 MiB limit.
func TestLargeLines(t *testing.T) {
	sample.NoRace(t)
	const head, tail = `{"id":1,"method":"model/list","params":{"cursor":"`, `"}}`
	largest := head + strings.Repeat("x", maxLine-len(head)-len(tail)) + tail
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		require.Equal(t, answerOf("1"), p.ask(largest))
		require.Equal(t, answerOf("1"), p.ask(largest+"\r"))
		p.say(largest+" ", requestOf("2"))
		require.Equal(t, []string{invalid("null", "a line of more than 67108864 bytes"), answerOf("2")}, p.hear())
	})
}
