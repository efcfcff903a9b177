package toolspec_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

const shell = "/bin/bash"

func TestReviewersCannotLeaveTheSandbox(t *testing.T) {
	require.Len(t, toolspec.ReviewSpecs(), 1)
	require.NotContains(t, string(toolspec.ReviewSpecs()[0].Parameters), "sandbox_permissions")
}

func TestParseShellForms(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"command":"ls -l"}`:                    "ls -l",
		`{"cmd":"ls"}`:                           "ls",
		`{"command":["bash","-lc","ls | wc"]}`:   "ls | wc",
		`{"command":["/bin/sh","-c","ls"]}`:      "ls",
		`{"command":["ls","a b"]}`:               "ls 'a b'",
		`{"command":["bash","-x","ls"],"x":[1]}`: "bash -x ls",
	} {
		c, err := toolspec.ParseShell(arguments, cwd, shell)
		require.NoError(t, err, arguments)
		require.Equal(t, want, c.Script)
		require.Equal(t, []string{shell, "-lc", want}, c.Argv)
		require.Equal(t, 10*time.Minute, c.Timeout)
	}
	c, err := toolspec.ParseShell(
		`{"command":"ls","workdir":"sub","timeout_ms":1000000000000,"justification":"why"}`, cwd, shell)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(cwd, "sub"), c.Cwd)
	require.Equal(t, 24*time.Hour, c.Timeout)
	require.Equal(t, "why", c.Reason)
}

func TestParseErrorsNameTheMember(t *testing.T) {
	parse := map[string]func(string) error{
		"shell":    func(a string) error { _, err := toolspec.ParseShell(a, cwd, shell); return err },
		"exec":     func(a string) error { _, err := toolspec.ParseExec(a, cwd, shell); return err },
		"stdin":    func(a string) error { _, err := toolspec.ParseStdin(a); return err },
		"patch":    func(a string) error { _, _, err := toolspec.ParsePatch("/", a, false); return err },
		"plan":     func(a string) error { _, err := toolspec.ParsePlan(a); return err },
		"image":    func(a string) error { _, err := toolspec.ParseImage(a, cwd); return err },
		"question": func(a string) error { _, err := toolspec.ParseQuestions(a); return err },
		"answer":   func(a string) error { _, err := toolspec.ParseAnswers(json.RawMessage(a)); return err },
		"recall":   func(a string) error { _, err := toolspec.ParseRecall(a); return err },
		"server":   func(a string) error { _, err := (&toolspec.ServerTool{}).ParseCall(a); return err },
	}
	for name, p := range parse {
		require.Error(t, p(`{"`), name)
		require.Error(t, p(`[1]`), name)
	}
	for _, tt := range []struct{ tool, arguments, want string }{
		{"shell", `{}`, "command is missing"},
		{"shell", `{"command":" "}`, "command is missing"},
		{"shell", `{"command":"a\u0000b"}`, "NUL"},
		{"shell", `{"command":"a","sandbox_permissions":"all"}`, "sandbox_permissions"},
		{"exec", `{"cmd":"a","shell":"\u0000"}`, "NUL"},
		{"patch", `{"input":" "}`, "input is missing"},
		{"plan", `{}`, "plan is missing"},
		{"plan", `{"plan":[{"step":"a","status":"done"}]}`, "step 1"},
		{"image", `{}`, "path is missing"},
		{"question", `{"questions":[]}`, "one to three"},
		{"question", `{"questions":[{"id":"a"}]}`, "no text"},
		{"question", `{"questions":[{"id":"a","question":"b"}]}`, "options"},
		{"answer", `{}`, "answers is missing"},
		{"answer", `{"answers":{"a":{}}}`, `answers is missing for "a"`},
		{"recall", `{"query":" "}`, "query or ids"},
	} {
		require.ErrorContains(t, parse[tt.tool](tt.arguments), tt.want, tt.arguments)
	}
}

func TestParseExecBounds(t *testing.T) {
	c, err := toolspec.ParseExec(`{"cmd":"make","yield_time_ms":1,"max_output_tokens":10,"tty":true}`, cwd, shell)
	require.NoError(t, err)
	require.Equal(t, &toolspec.Terminal{TTY: true, Wait: 250 * time.Millisecond, Keep: 40}, c.Terminal)
	require.Zero(t, c.Timeout)

	c, err = toolspec.ParseExec(`{"cmd":"ls","shell":"fish","login":false}`, cwd, shell)
	require.NoError(t, err)
	require.Equal(t, []string{"fish", "-c", "ls"}, c.Argv)
	require.False(t, c.Reads(), "the script is analysed for the user's shell only")
	require.Equal(t, &toolspec.Terminal{Wait: 10 * time.Second, Keep: toolspec.MaxOutput}, c.Terminal)

	c, err = toolspec.ParseExec(`{"cmd":"ls","shell":"cmd.exe","login":false}`, cwd, shell)
	require.NoError(t, err)
	require.Equal(t, []string{"cmd.exe", "/c", "ls"}, c.Argv)

	own, err := toolspec.ParseExec(`{"cmd":"ls"}`, cwd, shell)
	require.NoError(t, err)
	require.NotEqual(t, own.Key(false), c.Key(false))
	require.NotEqual(t, own.Key(false), own.Key(true))
}

// TestScriptsOfPowerShellAreNotSafe: the analysis knows Bourne shells only.
func TestScriptsOfPowerShellAreNotSafe(t *testing.T) {
	const powerShell = `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	for _, parse := range []func(_, _, _ string) (*toolspec.Command, error){toolspec.ParseShell, toolspec.ParseExec} {
		c, err := parse(`{"command":"ls"}`, cwd, powerShell)
		require.NoError(t, err)
		require.False(t, c.Reads())
		require.Equal(t, []string{powerShell, "-NoProfile", "-Command"}, c.Argv[:3])
		require.Equal(t, "ls", c.Script)
		c, err = parse(`{"command":"del /f x"}`, cwd, powerShell)
		require.NoError(t, err)
		require.True(t, c.Dangerous)
		c, err = parse(`{"command":"ls"}`, cwd, shell)
		require.NoError(t, err)
		require.True(t, c.Reads())
	}
}

func TestParseStdinWaits(t *testing.T) {
	for arguments, want := range map[string]toolspec.Stdin{
		`{"session_id":7}`: {Session: "7", Wait: 5 * time.Second, Keep: toolspec.MaxOutput},
		`{"session_id":"7","chars":"a"}`: {
			Session: "7", Chars: "a", Wait: 250 * time.Millisecond, Keep: toolspec.MaxOutput},
		`{"session_id":7,"yield_time_ms":999999,"max_output_tokens":1}`: {Session: "7", Wait: 5 * time.Minute, Keep: 4},
	} {
		in, err := toolspec.ParseStdin(arguments)
		require.NoError(t, err)
		require.Equal(t, want, in, arguments)
	}
}

func TestCommandPatch(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: f\n+a\n*** End Patch"
	c := toolspec.Command{Script: "cd sub && apply_patch <<'E'\n" + patch + "\nE", Cwd: cwd}
	dir, text, ok := c.Patch()
	require.True(t, ok)
	require.Equal(t, filepath.Join(cwd, "sub"), dir)
	require.Equal(t, patch, strings.TrimSpace(text))

	c.Script = "make"
	_, _, ok = c.Patch()
	require.False(t, ok)

	_, text, err := toolspec.ParsePatch("/", patch, true)
	require.NoError(t, err)
	require.Equal(t, patch, text)
}

func TestParseRecallTruncatesTheQuery(t *testing.T) {
	c, err := toolspec.ParseRecall(`{"query":"` + strings.Repeat("ä", toolspec.MaxQuery) + `","ids":["r1"]}`)
	require.NoError(t, err)
	require.Len(t, c.Query, toolspec.MaxQuery)
	require.Equal(t, []string{"r1"}, c.IDs)
}

func TestServerResultOutput(t *testing.T) {
	var none *toolspec.ServerResult
	require.Equal(t, "Wall time: 0.0010 seconds\nOutput:\nrefused", none.Output("refused", 1).Text)

	structured := &toolspec.ServerResult{Structured: json.RawMessage(`{"a":1}`)}
	require.True(t, strings.HasSuffix(structured.Output("", 0).Text, "\n{\"a\":1}"))

	r := &toolspec.ServerResult{}
	for range 6 {
		r.Content = append(r.Content, json.RawMessage(`{"type":"image","mimeType":"image/gif","data":"R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="}`))
	}
	long, err := protocol.Marshal(map[string]string{"type": "text", "text": strings.Repeat("x", 50_000)})
	require.NoError(t, err)
	r.Content = append(r.Content, long, json.RawMessage(`{"type":"text","text":"dropped"}`))
	images, text := 0, 0
	for _, p := range toolspec.LimitOutput(r.Output("", 0), toolspec.MaxOutput).Parts {
		if p.Type == protocol.ContentInputImage {
			images++
		}
		text += len(p.Text)
		require.NotEqual(t, "dropped", p.Text)
	}
	require.Equal(t, 4, images)
	require.Less(t, text, toolspec.MaxOutput+500)
}

func TestWebSearchTool(t *testing.T) {
	full := protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.DangerFullAccess{}}
	read := protocol.SandboxPolicy{SandboxPolicyVariant: &protocol.ReadOnly{}}
	require.Nil(t, toolspec.WebSearch{}.Tool(full))
	require.Nil(t, toolspec.WebSearch{Mode: "disabled"}.Tool(full))
	require.False(t, toolspec.WebSearch{Mode: toolspec.WebSearchCached}.Tool(read).External)
	require.True(t, toolspec.WebSearch{Mode: toolspec.WebSearchCached}.Tool(full).External)
	require.True(t, toolspec.WebSearch{Mode: "indexed"}.Tool(read).Indexed)
	require.True(t, toolspec.WebSearch{Mode: "live"}.Tool(read).External)
}
