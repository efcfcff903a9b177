package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// startRequired starts a server on a machine whose administrator has written a file into /etc/codex.
func startRequired(t *testing.T, name, text string) *apptest.Client {
	t.Helper()
	etc := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(etc, "codex"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(etc, "codex", name), []byte(text), 0o644))
	script := fmt.Sprintf(`unshare --user --map-root-user --mount sh -c 'mount --bind %s /etc && exec "$@"' sh "$@"`, etc)
	c := apptest.StartProcess(t, apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir()), script))
	c.Initialize()
	return c
}

// TestRequirementsHoldInEachRequest refuses sandboxes and policies that the administrator does not allow, wherever a
// client can name one.
func TestRequirementsHoldInEachRequest(t *testing.T) {
	t.Parallel()
	c := startRequired(t, "requirements.toml", "allowed_sandbox_modes = [\"read-only\"]\n"+
		"allowed_approval_policies = [\"on-request\", \"untrusted\"]\n")
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir})
	full := apptest.Object{"type": "dangerFullAccess"}
	command := []string{"touch", filepath.Join(dir, "made")}
	for _, r := range []struct {
		method string
		params apptest.Object
		key    string
	}{
		{"thread/start", apptest.Object{"sandbox": "danger-full-access"}, "sandbox_modes"},
		{"thread/start", apptest.Object{"permissions": ":workspace"}, "sandbox_modes"},
		{"thread/start", apptest.Object{"approvalPolicy": "never"}, "approval_policies"},
		{"thread/fork", apptest.Object{"threadId": id, "sandbox": "workspace-write"}, "sandbox_modes"},
		{"thread/fork", apptest.Object{"threadId": id, "permissions": ":danger-full-access"}, "sandbox_modes"},
		{"thread/fork", apptest.Object{"threadId": id, "approvalPolicy": "never"}, "approval_policies"},
		{"thread/resume", apptest.Object{"threadId": id, "sandbox": "workspace-write"}, "sandbox_modes"},
		{"thread/resume", apptest.Object{"threadId": id, "permissions": ":workspace"}, "sandbox_modes"},
		{"thread/resume", apptest.Object{"threadId": id, "approvalPolicy": "never"}, "approval_policies"},
		{"turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("x"), "sandboxPolicy": full}, "sandbox_modes"},
		{"turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("x"), "permissions": ":workspace"},
			"sandbox_modes"},
		{"turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("x"), "approvalPolicy": "never"},
			"approval_policies"},
		{"command/exec", apptest.Object{"command": command, "sandboxPolicy": full}, "sandbox_modes"},
		{"command/exec", apptest.Object{"command": command, "permissionProfile": ":workspace"}, "sandbox_modes"},
	} {
		require.Contains(t, c.CallRejected(r.method, r.params).Message, "allowed_"+r.key+" does not permit", "%v", r)
	}
	require.NoFileExists(t, command[1])
	c.Close()
}

// TestRequirementsThatCannotBeObeyedStartNoThread names the requirement.
func TestRequirementsThatCannotBeObeyedStartNoThread(t *testing.T) {
	t.Parallel()
	for _, file := range []struct{ name, text, problem string }{
		{"requirements.toml", "enforce_residency = \"us\"\n", "enforce_residency is a requirement that this server cannot obey"},
		{"requirements.toml", "[rules]\nprefix_rules = [{pattern = [7], decision = \"forbidden\"}]\n", "rules.prefix_rules"},
		{"managed_config.toml", "sandbox_mode = \"read-only\"\n", "managed_config.toml is not read by this server"},
	} {
		t.Run(file.problem, func(t *testing.T) {
			t.Parallel()
			c := startRequired(t, file.name, file.text)
			require.Contains(t, c.CallRejected("thread/start", apptest.Object{}).Message, file.problem)
			c.Close()
		})
	}
}

// TestRequiredRulesRefuseCommands also under full access.
func TestRequiredRulesRefuseCommands(t *testing.T) {
	t.Parallel()
	c := startRequired(t, "requirements.toml", "[rules]\nprefix_rules = [{pattern = [{any_of = [\"touch\", \"mkdir\"]}, "+
		"{token = \"made\"}], decision = \"forbidden\", justification = \"use the other tool\"}]\n")
	dir := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	status, asked := runsOf(c, id, "touch made")
	require.Equal(t, "declined", status)
	require.Zero(t, asked)
	require.NoFileExists(t, filepath.Join(dir, "made"))
	status, _ = runsOf(c, id, "touch other")
	require.Equal(t, "completed", status)
	c.Close()
}
