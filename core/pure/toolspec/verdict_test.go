package toolspec_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

const cwd = "/work"

// policies are the columns of the table in docs/approvals.md.
var policies = map[string]protocol.AskForApproval{
	"untrusted":  {Mode: protocol.ApprovalUntrusted},
	"on-request": {Mode: protocol.ApprovalOnRequest},
	"granular": {Mode: protocol.ApprovalGranular,
		Granular: &protocol.GranularApproval{SandboxApproval: true, McpElicitations: true}},
	"granular, no sandbox_approval": {Mode: protocol.ApprovalGranular, Granular: &protocol.GranularApproval{}},
	"never":                         {Mode: protocol.ApprovalNever},
}

var sandboxes = map[string]protocol.SandboxPolicyVariant{
	"read-only":          &protocol.ReadOnly{},
	"workspace-write":    &protocol.WorkspaceWrite{},
	"danger-full-access": &protocol.DangerFullAccess{},
	"externalSandbox":    &protocol.ExternalSandbox{},
}

// calls are the arguments of the shell for the rows of the table.
var calls = map[string]string{
	"only reads":                             `{"command":"cat a"}`,
	"only reads, opens no file":              `{"command":"ls | head -5"}`,
	"only reads, and the kernel confines it": `{"command":"cat a"}`,
	"any other":                              `{"command":"make"}`,
	"removes files by force":                 `{"command":"rm -rf build"}`,
	"only reads, asks to run outside":        `{"command":"cat a","sandbox_permissions":"require_escalated"}`,
	"any other, asks to run outside":         `{"command":"make","with_escalated_permissions":true}`,
	"removes by force, asks to run outside":  `{"command":"rm -rf build","sandbox_permissions":"require_escalated"}`,
}

var patched = map[string]string{"patch in the workspace": cwd + "/f", "patch elsewhere": "/other/f"}

// TestVerdictsInDocs compares both tables of docs/approvals.md with the function. The row of commands
// that fail in the sandbox is about a second verdict, which tests of the core cover.
func TestVerdictsInDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/approvals.md")
	require.NoError(t, err)
	cells := 0
	enforced := true
	var columns []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "## If the kernel cannot confine commands") {
			enforced, columns = false, nil
		}
		row := strings.Split(strings.Trim(strings.ReplaceAll(strings.TrimSpace(line), "`", ""), "|"), "|")
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		switch {
		case row[0] == "command":
			columns = row[2:]
		case columns == nil || len(row) != len(columns)+2 || row[0] == "---" || strings.HasSuffix(row[0], "in its way"):
		default:
			for _, sandbox := range sandboxNames(row[1]) {
				for i, policy := range columns {
					require.Equal(t, row[2+i], verdict(t, row[0], sandbox, policy, enforced),
						"%s, %s, %s, enforced: %t", row[0], sandbox, policy, enforced)
					cells++
				}
			}
		}
	}
	require.Equal(t, (32+20)*5, cells)
}

func sandboxNames(column string) []string {
	if column == "all" {
		return []string{"read-only", "workspace-write", "danger-full-access", "externalSandbox"}
	}
	return strings.Split(column, ", ")
}

func verdict(t *testing.T, row, sandbox, policy string, enforced bool) string {
	require.Contains(t, policies, policy)
	require.Contains(t, sandboxes, sandbox)
	rules := toolspec.Rules{Policy: policies[policy], Cwd: cwd, Enforced: enforced,
		ConfinesReading: enforced || strings.HasSuffix(row, "the kernel confines it"),
		Sandbox:         protocol.SandboxPolicy{SandboxPolicyVariant: sandboxes[sandbox]}}
	words := map[toolspec.Verdict]string{toolspec.Run: "run", toolspec.Ask: "ask", toolspec.Refuse: "refuse"}
	if file, ok := patched[row]; ok {
		return words[rules.Patch([]string{file})]
	}
	require.Contains(t, calls, row)
	c, err := toolspec.ParseShell(calls[row], cwd, "/bin/sh")
	require.NoError(t, err)
	return words[rules.Command(c)]
}

func TestServerToolVerdict(t *testing.T) {
	yes, no := new(true), new(false)
	harmless := toolspec.ServerTool{ReadOnly: yes}
	harmful := toolspec.ServerTool{Destructive: yes, ReadOnly: yes}
	prompt := toolspec.ServerTool{ReadOnly: yes, Approval: "prompt"}
	always := toolspec.ServerTool{Destructive: yes, Approval: "approve"}
	closed := toolspec.ServerTool{Destructive: no, OpenWorld: no}
	for _, tt := range []struct {
		name            string
		tool            toolspec.ServerTool
		policy, sandbox string
		want            toolspec.Verdict
	}{
		{"read-only", harmless, "untrusted", "read-only", toolspec.Run},
		{"not destructive in a closed world", closed, "untrusted", "read-only", toolspec.Run},
		{"no hints", toolspec.ServerTool{}, "on-request", "workspace-write", toolspec.Ask},
		{"destructive", harmful, "on-request", "danger-full-access", toolspec.Ask},
		{"destructive, never, unconfined", harmful, "never", "danger-full-access", toolspec.Run},
		{"destructive, never", harmful, "never", "read-only", toolspec.Refuse},
		{"no elicitations", harmful, "granular, no sandbox_approval", "read-only", toolspec.Refuse},
		{"prompt", prompt, "on-request", "danger-full-access", toolspec.Ask},
		{"prompt, never", prompt, "never", "danger-full-access", toolspec.Refuse},
		{"approve", always, "never", "read-only", toolspec.Run},
	} {
		rules := toolspec.Rules{Policy: policies[tt.policy], Cwd: cwd, Enforced: true,
			Sandbox: protocol.SandboxPolicy{SandboxPolicyVariant: sandboxes[tt.sandbox]}}
		require.Equal(t, tt.want, rules.ServerTool(&tt.tool), tt.name)
	}
}

func TestPatchVerdictOfProtectedFolders(t *testing.T) {
	rules := toolspec.Rules{Policy: policies["on-request"], Cwd: cwd, Sandbox: protocol.SandboxPolicy{
		SandboxPolicyVariant: &protocol.WorkspaceWrite{WritableRoots: []string{"/more"}}}}
	for file, want := range map[string]toolspec.Verdict{
		cwd + "/a":         toolspec.Run,
		"/more/a":          toolspec.Run,
		cwd + "/.codex/a":  toolspec.Ask,
		cwd + "/.Agents/a": toolspec.Ask,
		"/more/.codex/a":   toolspec.Ask,
		cwd + "er":         toolspec.Ask,
	} {
		require.Equal(t, want, rules.Patch([]string{cwd + "/a", file}), file)
	}
	require.Equal(t, "/more", rules.Root("/more/a/b"))
	require.Empty(t, rules.Root("/"))
}
