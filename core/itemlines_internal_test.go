package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// row is an item of a rollout and its preview.
type row struct{ item, preview string }

// TestRowsSayWhatItemsAre lists items as rollouts of this program and of the reference implementation have them. An
// output follows its call.
func TestRowsSayWhatItemsAre(t *testing.T) {
	for name, rows := range map[string][]row{
		"a shell with a string": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":\"go test ./core\",\"workdir\":\"/w\"}"}`, "go test ./core"},
			{`{"type":"function_call_output","call_id":"1","output":"Exit code: 0\nWall time: 3.2 seconds\nOutput:\nok  \tappserver/core\t3.1s\n"}`,
				"go test ./core → ok appserver/core 3.1s"},
		},
		"a shell with an argument vector and a JSON output": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":[\"bash\",\"-lc\",\"cd /w && ls -a\"],\"workdir\":\"/w\"}"}`, "ls -a"},
			{`{"type":"function_call_output","call_id":"1","output":"{\"output\":\"\\n---\\nREADME.md\\nmain.go\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`,
				"ls -a → README.md main.go"},
		},
		"a failed command": {
			{`{"type":"function_call","name":"shell_command","call_id":"1","arguments":"{\"command\":\"go build ./...\"}"}`, "go build ./..."},
			{`{"type":"function_call_output","call_id":"1","output":"Exit code: 1\nWall time: 0.4 seconds\nOutput:\n# app\n./a.go:3:2: undefined: x\n"}`,
				"go build ./... → exit 1: ./a.go:3:2: undefined: x"},
		},
		"a failed command with a JSON output": {
			{`{"type":"local_shell_call","call_id":"1","status":"completed","action":{"type":"exec","command":["bash","-lc","make"]}}`, "make"},
			{`{"type":"function_call_output","call_id":"1","output":"{\"output\":\"make: *** No rule. Stop.\\n\",\"metadata\":{\"exit_code\":2}}"}`,
				"make → exit 2: make: *** No rule. Stop."},
		},
		"a command without output": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":\"mkdir x\"}"}`, "mkdir x"},
			{`{"type":"function_call_output","call_id":"1","output":"Exit code: 0\nWall time: 0.0 seconds\nOutput:\n"}`, "mkdir x → no output"},
		},
		"a command that took too long": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":\"sleep 9\"}"}`, "sleep 9"},
			{`{"type":"function_call_output","call_id":"1","output":"The command was ended: it took longer than its timeout.\nWall time: 1.0 seconds\nOutput:\nz\n"}`,
				"sleep 9 → timed out: z"},
		},
		"a declined command": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":\"rm x\"}"}`, "rm x"},
			{`{"type":"function_call_output","call_id":"1","output":"The user declined this command."}`, "rm x → The user declined this command."},
		},
		"a terminal": {
			{`{"type":"function_call","name":"exec_command","call_id":"1","arguments":"{\"cmd\":\"npm run dev\",\"tty\":true}"}`, "npm run dev"},
			{`{"type":"function_call_output","call_id":"1","output":"Chunk ID: a1\nWall time: 10.0 seconds\nProcess running with session ID 7\nOriginal token count: 3\nOutput:\nready on :80\n"}`,
				"npm run dev → still running: ready on :80"},
			{`{"type":"function_call","name":"write_stdin","call_id":"2","arguments":"{\"session_id\":7,\"chars\":\"q\\n\"}"}`, "write_stdin 7 q"},
			{`{"type":"function_call_output","call_id":"2","output":"Wall time: 0.2500 seconds\nProcess exited with code 0\nOutput:\nbye\n"}`, "write_stdin 7 q → bye"},
		},
		"a read file": {
			{`{"type":"function_call","name":"shell","call_id":"1","arguments":"{\"command\":\"sed -n '1,40p' core/a.go\"}"}`, "sed -n '1,40p' core/a.go"},
			{`{"type":"function_call_output","call_id":"1","output":"Exit code: 0\nWall time: 0.0 seconds\nOutput:\n// Package core\npackage core\n"}`,
				"core/a.go:1-40 → // Package core package core"},
			{`{"type":"function_call","name":"shell","call_id":"2","arguments":"{\"command\":\"cat a.go && tail -n +9 b.go\"}"}`, "cat a.go && tail -n +9 b.go"},
			{`{"type":"function_call_output","call_id":"2","output":"Exit code: 1\nWall time: 0.0 seconds\nOutput:\ncat: a.go: No such file\n"}`,
				"a.go, b.go:9- → exit 1: cat: a.go: No such file"},
		},
		"a patch": {
			{`{"type":"custom_tool_call","name":"apply_patch","call_id":"1","input":"*** Begin Patch\n*** Update File: core/a.go\n@@\n-x\n+y\n*** Add File: b.go\n+z\n*** End Patch"}`,
				"apply_patch core/a.go, b.go"},
			{`{"type":"custom_tool_call_output","call_id":"1","output":"{\"output\":\"Success. Updated the following files:\\nA b.go\\nM core/a.go\\n\",\"metadata\":{\"exit_code\":0}}"}`,
				"apply_patch core/a.go, b.go → applied: A b.go M core/a.go"},
			{`{"type":"function_call","name":"shell","call_id":"2","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Delete File: c.go\\n*** End Patch\"]}"}`, "apply_patch c.go"},
			{`{"type":"function_call_output","call_id":"2","output":"apply_patch verification failed: c.go is missing"}`,
				"apply_patch c.go → apply_patch verification failed: c.go is missing"},
		},
		"a tool of an MCP server": {
			{`{"type":"function_call","namespace":"mcp__github","name":"search_issues","call_id":"1","arguments":"{\"limit\":5,\"query\":\"parser crash\"}"}`,
				"github.search_issues parser crash"},
			{`{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"Wall time: 0.1000 seconds\nOutput:"},{"type":"input_text","text":"{\n  \"total\": 3\n}"}]}`,
				`github.search_issues parser crash → "total": 3 }`},
			{`{"type":"function_call","name":"mcp__db__drop","call_id":"2","arguments":"{}"}`, "db.drop"},
			{`{"type":"function_call","name":"lookup","call_id":"3","arguments":"{\"ticket\":{\"n\":1,\"key\":\"AB-1\"}}"}`, "lookup AB-1"},
			{`{"type":"function_call","name":"lookup","call_id":"4","arguments":"not JSON"}`, "lookup not JSON"},
			{`{"type":"function_call","name":"sum","call_id":"5","arguments":"{\"a\":1}"}`, `sum {"a":1}`},
		},
		"a plan": {
			{`{"type":"function_call","name":"update_plan","call_id":"1","arguments":"{\"explanation\":\"why\",\"plan\":[{\"step\":\"read\",\"status\":\"completed\"},{\"step\":\"write\",\"status\":\"in_progress\"}]}"}`,
				"update_plan write"},
		},
		"images": {
			{`{"type":"function_call","name":"view_image","call_id":"1","arguments":"{\"path\":\"shot.png\"}"}`, "view_image shot.png"},
			{`{"type":"function_call_output","call_id":"1","output":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}`, "view_image shot.png → [image]"},
			{`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AA"}]}`, "[image]"},
			{`{"type":"image_generation_call","id":"ig","status":"completed","revised_prompt":"a cat","result":"AA"}`, "image generation: a cat"},
		},
		"web searches": {
			{`{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search","query":"go 1.26"}}`, "web search: go 1.26"},
			{`{"type":"web_search_call","id":"ws","action":{"type":"search","queries":["a","b"]}}`, "web search: a"},
			{`{"type":"web_search_call","id":"ws","action":{"type":"open_page","url":"https://go.dev"}}`, "web search: https://go.dev"},
			{`{"type":"web_search_call","id":"ws","action":{"type":"find_in_page","url":"https://go.dev","pattern":"gc"}}`, "web search: gc in https://go.dev"},
			{`{"type":"web_search_call","id":"ws"}`, "web search"},
		},
		"messages": {
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<my_tag> stays\nhere"}]}`, "<my_tag> stays here"},
			{`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done.\n\nAll **good**."}]}`, "Done. All **good**."},
			{`{"type":"reasoning","summary":[{"type":"summary_text","text":"**Looking around**\n\nFirst"}]}`, "Looking around First"},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/w &amp; x</cwd>\n  <shell>bash</shell>\n</environment_context>"}]}`,
				"cwd /w & x, shell bash"},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>"}]}`,
				"# AGENTS.md instructions for /w Use tabs."},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>\nThe user interrupted the turn."}]}`, "The user interrupted the turn."},
			{`{"type":"message","role":"developer","content":[{"type":"input_text","text":"<permissions instructions>\nNo network."}]}`, "No network."},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nExit code: 0\nDuration: 0.1 seconds\nOutput:\nclean\n</result>\n</user_shell_command>"}]}`,
				"git status → clean"},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"<tool_definition name=\"mcp__a__b\">\n{\"name\":\"mcp__a__b\",\"description\":\"Adds.\"}\n</tool_definition>"}]}`, "a.b: Adds."},
			{`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + strings.ReplaceAll(history.SummaryHead, "\n", `\n`) + `We fixed it."}]}`, "We fixed it."},
		},
		"an output without a call": {
			{`{"type":"function_call_output","call_id":"9","output":"Exit code: 0\nWall time: 0.0 seconds\nOutput:\nlost\n"}`, "lost"},
		},
		"a text that mentions the words of a head": {
			{`{"type":"function_call","name":"lookup","call_id":"1","arguments":"{\"path\":\"log\"}"}`, "lookup log"},
			{`{"type":"function_call_output","call_id":"1","output":"a log\nExit code: 3\nOutput:\nx"}`, "lookup log → a log Exit code: 3 Output: x"},
		},
	} {
		t.Run(name, func(t *testing.T) { checkRows(t, rows) })
	}
}

func checkRows(t *testing.T, rows []row) {
	subject := ""
	for _, r := range rows {
		lines := itemLines(itemOf(t, r.item), subject)
		subject = lines.Printed
		require.Equal(t, r.preview, lines.Short, r.item)
		require.Empty(t, lines.Long, r.item)
	}
}

func itemOf(t *testing.T, raw string) (item protocol.ResponseItem) {
	require.NoError(t, item.UnmarshalJSON([]byte(raw)), raw)
	return item
}

// TestRowsStayOneSafeLine expects no control characters, and parts of both the subject and the output.
func TestRowsStayOneSafeLine(t *testing.T) {
	script := "printf '\x1b[31m\u202ehostile\u2066' \x00 \\\n" + strings.Repeat("long 語 ", 60)
	call := protocol.ResponseItem{ResponseItemVariant: &protocol.LocalShellCall{
		CallID: "1", Action: protocol.LocalShellAction{Command: []string{"bash", "-lc", script}}}}
	lines := itemLines(call, "")
	checkLine(t, lines.Short, previewLength)
	checkLine(t, lines.Long, longLength)
	checkLine(t, lines.Printed, longLength)
	for _, body := range []string{"\x00\xff\x1b]0;title\x07\u202eabc",
		strings.Repeat("\u202e\x1b[2J word\r\n", 1<<16), family + flag + accents} {
		out := protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{
			CallID: "1", Output: protocol.ToolOutput{Text: "Exit code: 0\nWall time: 0.0 seconds\nOutput:\n" + body}}}
		of := itemLines(out, lines.Printed)
		checkLine(t, of.Short, previewLength)
		checkLine(t, of.Long, longLength)
		require.Contains(t, of.Short, "hostile")
		require.Contains(t, of.Short, about)
		require.Greater(t, lengthOf(of.Long), previewLength)
	}
}

func checkLine(t *testing.T, line string, limit int) {
	require.LessOrEqual(t, len(graphemesOf(line)), limit)
	for _, r := range line {
		require.NotContains(t, "\x00\x07\x1b\r\n\u202e\u2066", string(r), "%q", line)
	}
}

// FuzzItemLines describes any output of any call: each line is safe, and has its length at most.
func FuzzItemLines(f *testing.F) {
	f.Add(`{"command":"ls"}`, "Exit code: 1\nOutput:\nx")
	f.Add(`{"command":["bash","-lc","cat a"]}`, `{"output":"x","metadata":{"exit_code":1}}`)
	f.Add("*** Begin Patch\n*** Add File: \u202e", "Wall time: \nOutput:")
	f.Fuzz(func(t *testing.T, arguments, output string) {
		for _, tool := range []string{"shell", "write_stdin", "mcp__a__b"} {
			lines := itemLines(protocol.ResponseItem{
				ResponseItemVariant: &protocol.FunctionCall{Name: tool, Arguments: arguments}}, "")
			of := itemLines(protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{
				Output: protocol.ToolOutput{Text: output}}}, lines.Printed)
			for _, line := range []history.Lines{lines, of} {
				checkLine(t, line.Short, previewLength)
				checkLine(t, line.Long, longLength)
			}
		}
	})
}

// BenchmarkItemLines describes a call and its output.
func BenchmarkItemLines(b *testing.B) {
	for name, script := range map[string]string{"command": "go test ./core/...", "read": "sed -n '1,40p' core/a.go"} {
		call := protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCall{
			Name: "shell", Arguments: `{"command":"` + script + `"}`}}
		out := protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCallOutput{Output: protocol.ToolOutput{
			Text: "Exit code: 0\nWall time: 0.0 seconds\nOutput:\n" + strings.Repeat("a line of output\n", 500)}}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				itemLines(out, itemLines(call, "").Printed)
			}
		})
	}
}
