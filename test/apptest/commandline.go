package apptest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Execute runs the server until it exits, with empty input.
func Execute(t *testing.T, home string, args ...string) (status int, out, errs string) {
	t.Helper()
	cmd := ServerCommand(t, home, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := new(exec.ExitError); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// LegacyID is the id of the thread in LegacyRollout.
const LegacyID = "0199a213-81c0-7800-8aa1-bbab2a035a53"

// LegacyRollout is a rollout of an early version of the reference implementation. Its lines have no
// ordinals, and turns and items are events of an older form. The user's message contains control
// characters of terminals.
const LegacyRollout = `{"timestamp":"2025-10-01T10:00:00.000Z","type":"session_meta","payload":{"id":"0199a213-81c0-7800-8aa1-bbab2a035a53","timestamp":"2025-10-01T10:00:00.000Z","cwd":"/project","originator":"codex_cli_rs","cli_version":"0.44.0","instructions":null,"source":"cli","model_provider":"gone"}}
{"timestamp":"2025-10-01T10:00:00.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/project</cwd>\n</environment_context>"}]}}
{"timestamp":"2025-10-01T10:00:01.000Z","type":"turn_context","payload":{"cwd":"/project","approval_policy":"on-request","sandbox_policy":{"mode":"read-only"},"model":"gpt-5-codex","summary":"auto"}}
{"timestamp":"2025-10-01T10:00:01.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list \u009b31mthe\u001b[2J \u202efiles"}]}}
{"timestamp":"2025-10-01T10:00:01.200Z","type":"event_msg","payload":{"type":"user_message","message":"list \u009b31mthe\u001b[2J \u202efiles","kind":"plain"}}
{"timestamp":"2025-10-01T10:00:02.000Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"**Listing**"}}
{"timestamp":"2025-10-01T10:00:02.100Z","type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"**Listing**"}],"content":null,"encrypted_content":"gAAAA"}}
{"timestamp":"2025-10-01T10:00:02.200Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"call_1"}}
{"timestamp":"2025-10-01T10:00:02.300Z","type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"README.md and many other files, one after the other\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}}
{"timestamp":"2025-10-01T10:00:03.000Z","type":"event_msg","payload":{"type":"agent_message","message":"There is README.md."}}
{"timestamp":"2025-10-01T10:00:03.100Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"There is README.md."}]}}
{"timestamp":"2025-10-01T10:00:03.200Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}
`

// LegacyHome returns a home with LegacyRollout, and the path of the rollout.
func LegacyHome(t *testing.T) (home, path string) {
	t.Helper()
	home = t.TempDir()
	return home, PutRollout(t, home, LegacyID, LegacyRollout)
}

// PutRollout writes a rollout into a home and returns its path.
func PutRollout(t *testing.T, home, id, text string) string {
	t.Helper()
	path := filepath.Join(home, "sessions/2025/10/01", "rollout-2025-10-01T12-00-00-"+id+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// ContextCommand runs a context command and requires its exit status. No provider has a key, so the
// command must not need one.
func ContextCommand(t *testing.T, home string, status int, args ...string) (out, errs string) {
	t.Helper()
	got, out, errs := Execute(t, home, append([]string{"context"}, args...)...)
	require.Equal(t, status, got, "%s\n%s", out, errs)
	if status == 0 {
		require.Empty(t, errs)
	} else {
		require.Empty(t, out)
		require.NotEmpty(t, errs)
	}
	return out, errs
}

// ShellQuote quotes a text as one word of a shell.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
