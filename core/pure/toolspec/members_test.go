package toolspec_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolschema"
	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// TestIntegersAreTakenInAnyExactForm covers each integer of the built-in tools.
func TestIntegersAreTakenInAnyExactForm(t *testing.T) {
	for _, v := range []string{`1000`, `1000.0`, `1000.00`, `1e3`, `1E+3`, `1.0e3`, `10000e-1`, `"1000"`, `" 1000 "`,
		`"1000.0"`, `"1e3"`} {
		c, err := toolspec.ParseShell(`{"command":"a","timeout_ms":`+v+`}`, cwd, shell)
		require.NoError(t, err, v)
		require.Equal(t, time.Second, c.Timeout, v)

		c, err = toolspec.ParseExec(`{"cmd":"a","yield_time_ms":`+v+`,"max_output_tokens":`+v+`}`, cwd, shell)
		require.NoError(t, err, v)
		require.Equal(t, &toolspec.Terminal{Wait: time.Second, Keep: 4000}, c.Terminal, v)

		in, err := toolspec.ParseStdin(`{"session_id":` + v + `,"chars":"x","yield_time_ms":` + v + `,"max_output_tokens":` +
			v + `}`)
		require.NoError(t, err, v)
		require.Equal(t, toolspec.Stdin{Session: "1000", Chars: "x", Wait: time.Second, Keep: 4000}, in, v)
	}
	for _, v := range []string{`null`, `""`, `0`, `-5`, `-1e300`} {
		c, err := toolspec.ParseShell(`{"command":"a","timeout_ms":`+v+`}`, cwd, shell)
		require.NoError(t, err, v)
		require.Equal(t, 10*time.Minute, c.Timeout, v)
	}
	for _, v := range []string{`1e300`, `1e999`, `99999999999999999999`, `9223372036854775807`} {
		c, err := toolspec.ParseShell(`{"command":"a","timeout_ms":`+v+`}`, cwd, shell)
		require.NoError(t, err, v)
		require.Equal(t, 24*time.Hour, c.Timeout, v)
	}
}

func TestBooleansAreTakenAsTexts(t *testing.T) {
	for v, want := range map[string]bool{`true`: true, `false`: false, `"true"`: true, `"false"`: false, `"True"`: true,
		`" FALSE "`: false} {
		c, err := toolspec.ParseExec(`{"cmd":"a","tty":`+v+`,"login":`+v+`,"with_escalated_permissions":`+v+`}`, cwd, shell)
		require.NoError(t, err, v)
		require.Equal(t, want, c.Terminal.TTY, v)
		require.Equal(t, want, c.Argv[1] == "-lc", v)
		require.Equal(t, want, c.Escalates, v)
	}
}

func TestListsAreTakenAsTexts(t *testing.T) {
	p, err := toolspec.ParsePlan(`{"plan":"[{\"step\":\"a\",\"status\":\"pending\"}]"}`)
	require.NoError(t, err)
	require.Equal(t, []protocol.TurnPlanStep{{Step: "a", Status: "pending"}}, p.Steps)
	p, err = toolspec.ParsePlan(`{"plan":["{\"step\":\"a\",\"status\":\"completed\"}"],"explanation":null}`)
	require.NoError(t, err)
	require.Equal(t, toolspec.Plan{Steps: []protocol.TurnPlanStep{{Step: "a", Status: "completed"}}}, p)

	for _, ids := range []string{`["r1","r2"]`, `"[\"r1\",\"r2\"]"`} {
		c, err := toolspec.ParseRecall(`{"ids":` + ids + `}`)
		require.NoError(t, err)
		require.Equal(t, []string{"r1", "r2"}, c.IDs, ids)
	}
	c, err := toolspec.ParseRecall(`{"ids":"r1"}`)
	require.NoError(t, err)
	require.Equal(t, []string{"r1"}, c.IDs)

	for arguments, want := range map[string]string{
		`{"command":"[\"bash\",\"-lc\",\"ls\"]"}`: "ls",
		`{"command":"[ 1 ]"}`:                     "[ 1 ]",
		`{"command":"[ -f x ] && ls"}`:            "[ -f x ] && ls",
	} {
		c, err := toolspec.ParseShell(arguments, cwd, shell)
		require.NoError(t, err)
		require.Equal(t, want, c.Script)
	}

	q, err := toolspec.ParseQuestions(`{"questions":[{"id":1,"header":"h","question":"q",
		"options":"[{\"label\":\"a\",\"description\":\"b\"}]"}]}`)
	require.NoError(t, err)
	require.Equal(t, []protocol.ToolRequestUserInputQuestion{{ID: "1", Header: "h", Question: "q", IsOther: true,
		Options: []protocol.ToolRequestUserInputOption{{Label: "a", Description: "b"}}}}, q)
}

// TestErrorsAreInWordsOfJSON covers wrong values of each tool. The model reads the errors.
func TestErrorsAreInWordsOfJSON(t *testing.T) {
	parse := map[string]func(string) error{
		"shell":    func(a string) error { _, err := toolspec.ParseShell(a, cwd, shell); return err },
		"exec":     func(a string) error { _, err := toolspec.ParseExec(a, cwd, shell); return err },
		"stdin":    func(a string) error { _, err := toolspec.ParseStdin(a); return err },
		"patch":    func(a string) error { _, _, err := toolspec.ParsePatch("/", a, false); return err },
		"plan":     func(a string) error { _, err := toolspec.ParsePlan(a); return err },
		"image":    func(a string) error { _, err := toolspec.ParseImage(a, cwd); return err },
		"question": func(a string) error { _, err := toolspec.ParseQuestions(a); return err },
		"recall":   func(a string) error { _, err := toolspec.ParseRecall(a); return err },
	}
	for name, p := range parse {
		for _, arguments := range []string{`[1]`, `"a"`, `7`, `true`} {
			require.EqualError(t, p(arguments), "they must be a JSON object", "%s %s", name, arguments)
		}
		for _, arguments := range []string{``, ` `, `null`, `{}`} {
			err := p(arguments)
			require.Error(t, err, name)
			require.NotContains(t, err.Error(), "JSON", "%s %q: %v", name, arguments, err)
		}
	}
	for _, tt := range []struct{ tool, arguments, want string }{
		{"shell", `{"command":"a","timeout_ms":1.5}`, "timeout_ms must be an integer, not 1.5"},
		{"shell", `{"command":"a","timeout_ms":"soon"}`, `timeout_ms must be an integer, not "soon"`},
		{"shell", `{"command":"a","timeout_ms":true}`, `timeout_ms must be an integer, not true`},
		{"shell", `{"command":"a","timeout_ms":"NaN"}`, `timeout_ms must be an integer, not "NaN"`},
		{"shell", `{"command":"a","timeout_ms":"0x10"}`, `timeout_ms must be an integer, not "0x10"`},
		{"shell", `{"command":"a","timeout_ms":"1_000"}`, `timeout_ms must be an integer, not "1_000"`},
		{"shell", `{"command":{"a":1}}`, `command must be a string, not {"a":1}`},
		{"shell", `{"command":7}`, `command must be a string, not 7`},
		{"shell", `{"command":[7]}`, `command must be a string, not [7]`},
		{"shell", `{"command":"a","workdir":[]}`, `workdir must be a string, not []`},
		{"exec", `{"cmd":"a","tty":"perhaps"}`, `tty must be true or false, not "perhaps"`},
		{"exec", `{"cmd":"a","login":2}`, `login must be true or false, not 2`},
		{"exec", `{"cmd":"a","max_output_tokens":[]}`, `max_output_tokens must be an integer, not []`},
		{"exec", `{"cmd":"a","with_escalated_permissions":"x"}`, `with_escalated_permissions must be true or false, not "x"`},
		{"stdin", `{"session_id":{}}`, `session_id must be a string, not {}`},
		{"stdin", `{"chars":"a"}`, `session_id is missing`},
		{"patch", `{"input":["a"]}`, `input must be a string, not ["a"]`},
		{"plan", `{"plan":7}`, `plan must be a list, not 7`},
		{"plan", `{"plan":"soon"}`, `plan must be a list, not "soon"`},
		{"plan", `{"plan":[7]}`, `plan must be a list of objects, not [7]`},
		{"plan", `{"plan":[null]}`, `plan must be a list of objects, not [null]`},
		{"plan", `{"plan":[{"step":{},"status":"pending"}]}`, `plan[0].step must be a string, not {}`},
		{"image", `{"path":{}}`, `path must be a string, not {}`},
		{"question", `{"questions":{}}`, `questions must be a list, not {}`},
		{"question", `{"questions":[{"id":"a","question":"b","options":7}]}`, `questions[0].options must be a list, not 7`},
		{"question", `{"questions":[{"id":"a","question":"b","options":[{"label":[]}]}]}`,
			`questions[0].options[0].label must be a string, not []`},
		{"recall", `{"ids":[{}]}`, `ids must be a list of strings, not [{}]`},
	} {
		require.EqualError(t, parse[tt.tool](tt.arguments), tt.want, tt.arguments)
	}
}

func TestNormalizedKeepsWhatItCannotRead(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 9_950) + strings.Repeat("]", 9_950) + "}{}"
	for _, arguments := range []string{`{"command":"a" }`, ``, `null`, `[1]`, `{"command":"a"`, deep} {
		require.Equal(t, arguments, toolspec.Normalized(arguments))
	}
	require.Equal(t, `{"a":1}`, toolspec.Normalized(`{"a":1}{"a":1}`))
}

func TestConformConvertsExactly(t *testing.T) {
	const schema = `{"type":"object","properties":{
		"n":{"type":"integer"},"m":{"type":["integer","null"]},"f":{"type":"number"},"b":{"type":"boolean"},
		"s":{"type":"string"},"l":{"type":"array","items":{"type":"integer"}},
		"o":{"type":"object","properties":{"n":{"type":"integer"}}},"any":{},"either":{"type":["string","integer"]},
		"of":{"anyOf":[{"type":"integer"}]},"a.b":{"type":"integer"},"*":{"type":"integer"}}}`
	for arguments, want := range map[string]string{
		`{"n":1000.0,"x":1.0}`:                `{"n":1000,"x":1.0}`,
		`{"n":"1000"}`:                        `{"n":1000}`,
		`{"n":1e3, "s":"1e3"}`:                `{"n":1000,"s":"1e3"}`,
		`{"m":"7"}`:                           `{"m":7}`,
		`{"f":"1.5"}`:                         `{"f":1.5}`,
		`{"b":"True"}`:                        `{"b":true}`,
		`{"l":"[1,2.0]"}`:                     `{"l":[1,2]}`,
		`{"l":["1",2]}`:                       `{"l":[1,2]}`,
		`{"o":"{\"n\":\"1\"}"}`:               `{"o":{"n":1}}`,
		`{"o":{"n":2.0,"k":{"n":2.0}}}`:       `{"o":{"n":2,"k":{"n":2.0}}}`,
		`{"a.b":"1","*":"2"}`:                 `{"a.b":1,"*":2}`,
		`{"n" : 5 , "b" : true}`:              `{"n" : 5 , "b" : true}`,
		`{"n":1.5,"b":"x","f":"y","l":"z"}`:   `{"n":1.5,"b":"x","f":"y","l":"z"}`,
		`{"either":"5","any":"5","of":"5"}`:   `{"either":"5","any":"5","of":"5"}`,
		`{"n":99999999999999999999}`:          `{"n":99999999999999999999}`,
		`{"n":9007199254740993.0}`:            `{"n":9007199254740993.0}`,
		`{"n":null,"s":null,"b":null,"l":{}}`: `{"n":null,"s":null,"b":null,"l":{}}`,
		`{"n":true,"s":7,"b":1}`:              `{"n":true,"s":7,"b":1}`,
		`[1.0]`:                               `[1.0]`,
	} {
		got := toolspec.Conform(json.RawMessage(schema), json.RawMessage(arguments))
		require.Equal(t, want, string(got), arguments)
	}
	for _, odd := range []string{``, `null`, `true`, `{"properties":[]}`, `{"properties":{"n":true}}`, `{"type":{}}`} {
		require.Equal(t, `{"n":1.0}`, string(toolspec.Conform(json.RawMessage(odd), json.RawMessage(`{"n":1.0}`))), odd)
	}
}

// TestAStringStaysOneIfTheToolTakesIt has a member that can be a text or an object. A text that is JSON is one of them.
func TestAStringStaysOneIfTheToolTakesIt(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"content":{"anyOf":[{"type":"string"},{"type":"object"}]},` +
		`"v":{"type":["string","array"]},"n":{"type":"integer"}}}`)
	tool := toolspec.ServerTool{Schema: toolschema.Normalize(schema)}
	got, err := tool.ParseCall(`{"content":"{\"a\":1}","v":"[1]","n":"7"}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"content":"{\"a\":1}","v":"[1]","n":7}`, string(got))
}
