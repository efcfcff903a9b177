package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// question is a kind of request of the server.
type question struct {
	method string
	// asks is an input that makes the server send the request.
	asks string
	// name and value are the member that accepts; rest are the other members.
	name, value, rest string
	// declines is a valid response.
	declines string
	// leak is a text that the model gets only if the response was accepted.
	leak string
}

// malformed returns invalid responses to a request. Each would accept if it were valid.
func (q question) malformed(id string) []string {
	good := fmt.Sprintf(`{%q:%s%s}`, q.name, q.value, q.rest)
	lines := []string{
		`{"id":ID}`, `{"id":ID,"error":null}`, `{"id":ID,"result":null,"error":null}`, `{"id":ID,"error":{}}`,
		`{"id":ID,"error":"GOOD"}`, `{"id":ID,"error":[]}`,
		`{"id":ID,"result":GOOD,"error":{"code":1,"message":"m"}}`, `{"id":ID,"result":GOOD,"error":GOOD}`,
		`{"id":ID,"params":GOOD}`,
		`{"id":"ID","result":GOOD}`, `{"id":null,"result":GOOD}`, `{"id":[ID],"result":GOOD}`, `{"id":ID.0,"result":GOOD}`,
		`{"id":-1,"result":GOOD}`,
		`{"id":99999,"result":GOOD}`, `{"result":GOOD}`, `{"ID":ID,"result":GOOD}`, `{"id":ID,"Result":GOOD}`,
		`{"Id":ID,"Result":GOOD}`,
		`{"id":ID,"result":GOOD,"result":GOOD}`, `{"id":ID,"id":ID,"result":GOOD}`, `{"id":ID,"method":"x","result":GOOD}`,
		`[{"id":ID,"result":[GOOD]}]`,
	}
	title := strings.ToUpper(q.name[:1]) + q.name[1:]
	deep := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	for _, result := range []string{
		`null`, `[]`, `{}`, `5`, `true`, `"accept"`, `[GOOD]`, `{"result":GOOD}`, fmt.Sprintf("%q", good),
		`{"TITLE":VALUE}`, `{"NAME":VALUE,"NAME":VALUE}`, `{"TITLE":VALUE,"NAME":null}`, `{"NAME":null}`, `{"NAME":[VALUE]}`,
		`{"NAME":{"x":VALUE}}`,
		`{"NAME":5}`, `{"NAME":"Accept"}`, `{"NAME":"accept "}`, `{"NAME":{"accept":{}}}`, `{"NAME":` + deep + `}`,
	} {
		lines = append(lines, `{"id":ID,"result":`+result+`}`)
	}
	for i := range lines {
		lines[i] = strings.NewReplacer("ID", id, `"GOOD"`, "5", "GOOD", good, "NAME", q.name, "TITLE", title, "VALUE",
			q.value).Replace(lines[i])
	}
	return lines
}

// TestMalformedResponsesAcceptNothing sends invalid responses to each kind of request. Nothing
// runs, the client gets a warning, and the turn ends. After a response without a known id, the
// request stays open.
func TestMalformedResponsesAcceptNothing(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	made := filepath.Join(t.TempDir(), "made")
	patch := "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch"
	declined := `{"decision":"decline"}`
	for name, q := range map[string]question{
		"command": {"item/commandExecution/requestApproval",
			apptest.ScriptText(apptest.ShellCall("touch " + made + " && echo be''trayed")), "decision", `"accept"`, "", declined,
			"betrayed"},
		"file change": {"item/fileChange/requestApproval",
			apptest.ScriptText(apptest.OneCall("apply_patch", apptest.Object{"input": patch})), "decision", `"accept"`, "",
			declined,
			"Success"},
		"elicitation": {"mcpServer/elicitation/request", apptest.ScriptText(apptest.OneCall("mcp__docs__write", apptest.Object{})),
			"action", `"accept"`, `,"content":{}`, `{"action":"decline"}`, "written"},
		"user input": {"item/tool/requestUserInput",
			apptest.ScriptText(apptest.OneCall("request_user_input",
				apptest.Object{"questions": []apptest.Object{{"id": "db", "header": "Store", "question": "Which?",
					"options": []apptest.Object{{"label": "A", "description": "a"}}}}})), "answers", `{"db":{"answers":["betrayed"]}}`,
			"", `{"answers":{}}`, "betrayed"},
		"client tool": {"item/tool/call", apptest.ScriptText(apptest.OneCall("ticket", apptest.Object{})), "success", "true",
			`,"contentItems":[{"type":"inputText","text":"betrayed"}]`,
			`{"success":false,"contentItems":[]}`, "betrayed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := apptest.NewScriptedModel(t)
			home := o.Home(t)
			config, err := os.ReadFile(filepath.Join(home, "config.toml"))
			require.NoError(t, err)
			apptest.WriteConfig(t, home, string(config)+strings.ReplaceAll(apptest.DocsServerConfig, "PROGRAM", program))
			cmd := apptest.ServerCommand(t, home, "-c", "features.default_mode_request_user_input=true", "-c",
				"compat.turn_completed_floor_ms=0")
			c := apptest.Connect(t, cmd, nil) // no wire: the client sends invalid messages
			c.Initialize()
			start := ticketTool()
			start["cwd"], start["approvalPolicy"], start["sandbox"] = filepath.Dir(made), "untrusted", "read-only"
			id := c.StartThread(start)
			lines := q.malformed("0")
			require.Greater(t, len(lines), 40)
			for i := range lines {
				requireDeclined(c, q, id, i)
				require.NotContains(t, o.LastOutput(), q.leak, lines[i])
				require.NoFileExists(t, made, lines[i])
			}
			c.Close()
		})
	}
}

// requireDeclined runs a turn with a request, and answers with the i-th invalid response.
func requireDeclined(c *apptest.Client, q question, thread string, i int) {
	c.T.Helper()
	c.BeginTurn(thread, q.asks)
	request := c.Until(isAsk(q.method))
	line := q.malformed(string(request.ID))[i]
	c.Write(line)
	warned := false
	for {
		m := c.Next()
		switch {
		case m.Method == "warning":
			warned = true
		case isAsk(q.method)(m):
			c.Write(fmt.Sprintf(`{"id":%s,"result":%s}`, m.ID, q.declines))
		case m.Method == "turn/completed":
			require.True(c.T, warned, line)
			return
		}
	}
}
