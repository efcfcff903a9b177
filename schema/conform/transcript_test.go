package conform_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/schema/conform"
)

func TestParseTranscript(t *testing.T) {
	lines := conform.ParseTranscript("# a comment\n-> {\"id\":1}\r\n\n<- {\"id\":1,\"result\":{}}\nok\n<-{\"not\":\"a message\"}\n")
	require.Equal(t, []conform.Line{
		{Number: 2, FromServer: false, Message: []byte(`{"id":1}`)},
		{Number: 4, FromServer: true, Message: []byte(`{"id":1,"result":{}}`)},
	}, lines)
}

// ours returns the generated schemas. They take the place of the reference's in these tests.
func ours(t *testing.T) *conform.Schemas {
	t.Helper()
	s, err := conform.Own()
	require.NoError(t, err)
	return s
}

func validate(t *testing.T, lines ...string) conform.Report {
	t.Helper()
	return conform.ValidateTranscript(ours(t), conform.ParseTranscript(strings.Join(lines, "\n")))
}

const approval = `{"kind":"command","threadId":"t","turnId":"u","itemId":"i","startedAtMs":1,"environmentId":null,` +
	`"reason":null,"command":"c","cwd":"/","commandActions":[],"proposedExecpolicyAmendment":null,"availableDecisions":["accept"]}`

func TestGoodTranscript(t *testing.T) {
	report := validate(t,
		`-> {"id":1,"method":"initialize","params":{}}`,
		`<- {"jsonrpc":"2.0","id":1,"result":{"userAgent":"a","codexHome":"/h","platformFamily":"unix","platformOs":"linux"}}`,
		`-> {"method":"initialized"}`,
		`-> {"id":"x","method":"thread/name/set","params":{"threadId":"t","name":"n"}}`,
		`<- {"jsonrpc":"2.0","method":"thread/name/updated","params":{"threadId":"t","threadName":"n"},"emittedAtMs":1}`,
		`<- {"jsonrpc":"2.0","id":"x","result":{}}`,
		`<- {"jsonrpc":"2.0","id":0,"method":"item/commandExecution/requestApproval","params":`+approval+`}`,
	)
	require.Empty(t, report.Problems)
	require.Equal(t, 4, report.Checked)
	require.Empty(t, report.Unchecked)
}

func TestRequestsOfTheServer(t *testing.T) {
	report := validate(t,
		`<- {"jsonrpc":"2.0","id":0,"method":"item/commandExecution/requestApproval","params":{"threadId":"t"}}`,
		`-> {"id":0,"result":{"decision":"accept"}}`,
	)
	require.Len(t, report.Problems, 1)
	require.ErrorContains(t, report.Problems[0], "line 1: CommandExecutionRequestApprovalParams")
	require.ErrorContains(t, report.Problems[0], "itemId")
}

func TestWrongMessages(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"result":               {`<- {"id":1,"result":{"thread":null}}`, "ThreadReadResponse"},
		"no result":            {`<- {"id":1}`, "ThreadReadResponse"},
		"another id":           {`<- {"id":2,"result":{}}`, "no request with id 2"},
		"the id as a string":   {`<- {"id":"1","result":{}}`, `no request with id "1"`},
		"no id":                {`<- {"result":{}}`, "no request with id (none)"},
		"notification":         {`<- {"method":"thread/closed","params":{}}`, "ThreadClosedNotification"},
		"no params":            {`<- {"method":"thread/closed"}`, "ThreadClosedNotification"},
		"unknown notification": {`<- {"method":"thread/opened","params":{}}`, "not in the tables"},
		"not JSON":             {`<- {`, "not a message"},
	} {
		t.Run(name, func(t *testing.T) {
			report := validate(t, `-> {"id":1,"method":"thread/read","params":{"threadId":"t"}}`, c.line)
			require.Len(t, report.Problems, 1)
			require.ErrorContains(t, report.Problems[0], "line 2: ")
			require.ErrorContains(t, report.Problems[0], c.want)
		})
	}
}

func TestAnswerComesOnce(t *testing.T) {
	const answer = `<- {"id":1,"result":{}}`
	report := validate(t, `-> {"id":1,"method":"turn/interrupt","params":{}}`, answer, answer)
	require.Len(t, report.Problems, 1)
	require.Equal(t, 3, report.Problems[0].Line)
}

func TestBatches(t *testing.T) {
	report := validate(t,
		`-> [{"id":1,"method":"turn/interrupt","params":{}},{"id":2,"method":7},{"id":3,"result":{}},{"id":4}]`,
		`<- [{"id":2,"error":{"code":-32600,"message":"no"}},{"id":1,"result":{}},{"id":4,"error":{"code":-32600,"message":"no"}}]`,
		`<- {"id":3,"result":{}}`,
		`<- []`)
	require.Len(t, report.Problems, 2)
	require.ErrorContains(t, report.Problems[0], "line 3: answer: no request with id 3")
	require.ErrorContains(t, report.Problems[1], "line 4: not a message")
}

func TestErrorAnswers(t *testing.T) {
	s := schemas(t, map[string]string{"JSONRPCErrorError.json": `{"type":"object","properties":{"code":{"type":"integer"}},"required":["code","message"]}`})
	report := conform.ValidateTranscript(s, conform.ParseTranscript(strings.Join([]string{
		`-> {`,
		`<- {"id":null,"error":{"code":-32700,"message":"not JSON"}}`,
		`-> {"id":1,"method":"turn/begin"}`,
		`<- {"id":1,"error":{"code":-32601}}`,
		`<- {"id":1,"error":{"code":-32601,"message":"twice"}}`,
	}, "\n")))
	require.Len(t, report.Problems, 2)
	require.ErrorContains(t, report.Problems[0], "line 4: JSONRPCErrorError")
	require.ErrorContains(t, report.Problems[1], "line 5: answer")
	require.Equal(t, 3, report.Checked)
}

func TestMethodsThatTheReferenceDoesNotHave(t *testing.T) {
	s := schemas(t, map[string]string{"M.json": "{}"})
	report := conform.ValidateTranscript(s, conform.ParseTranscript(`<- {"method":"thread/closed","params":{}}`))
	require.Empty(t, report.Problems)
	require.Zero(t, report.Checked)
	require.Equal(t, []string{"thread/closed"}, report.Unchecked)
}

// TestOwnTranscript also checks messages that only this server has.
func TestOwnTranscript(t *testing.T) {
	report := conform.ValidateOwnTranscript(ours(t), conform.ParseTranscript(strings.Join([]string{
		`-> {"id":1,"method":"context/undo","params":{}}`,
		`<- {"jsonrpc":"2.0","id":1,"result":{}}`,
		`<- {"jsonrpc":"2.0","method":"ContextItems","params":{},"emittedAtMs":1}`,
		`-> {"id":2,"method":"context/undo","params":{}}`,
		`<- {"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"no","data":{"kind":"nothingToUndo"}}}`,
		`-> {"id":3,"method":"context/undo","params":{}}`,
		`<- {"jsonrpc":"2.0","id":3,"error":{"code":-32600}}`,
	}, "\n")))
	require.Len(t, report.Problems, 3)
	require.ErrorContains(t, report.Problems[0], "line 2: ContextUndoResponse")
	require.ErrorContains(t, report.Problems[1], "line 3: ContextItemsNotification")
	require.ErrorContains(t, report.Problems[2], "line 7: ErrorResponse")
	require.Empty(t, report.Unchecked)
}

func TestResultNames(t *testing.T) {
	names := map[string]string{}
	for _, m := range protocol.Methods() {
		names[m.Name] = conform.ResultName(m)
	}
	require.Equal(t, "ThreadStartResponse", names["thread/start"])
	require.Equal(t, "TurnInterruptResponse", names["turn/interrupt"])
}

func FuzzTranscript(f *testing.F) {
	f.Add("-> {\"id\":1,\"method\":\"thread/read\"}\n<- {\"id\":1,\"result\":{}}")
	f.Add("<- {\"id\":null,\"error\":5}\n<- null\n<- []\n-> 5\n<- ")
	f.Add("<- {\"method\":\"thread/closed\",\"params\":1e999}")
	reference, err := conform.Own()
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		lines := conform.ParseTranscript(text)
		report := conform.ValidateTranscript(reference, lines)
		require.LessOrEqual(t, report.Checked+len(report.Unchecked), len(lines))
		for _, p := range report.Problems {
			require.Contains(t, p.Error(), "line ")
		}
	})
}
