//go:build reference

package interchange

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// Run with REFERENCE_BINARY naming the program of the reference implementation:
//
// REFERENCE_BINARY=FILE go test -tags reference -run TestReferenceApprovals ./test/interchange

// approvalDeviations are the cases of TestReferenceApprovals in which this server differs;
// docs/approvals.md has the reasons.
var approvalDeviations = map[string]bool{
	"untrusted, readOnly, run: ls": true, "untrusted, workspaceWrite, run: ls": true,
	"untrusted, dangerFullAccess, run: ls": true,
}

// approvalCase is a call of the model under two policies. Patches write a file named made.
type approvalCase struct {
	policy  any
	sandbox string
	call    string
}

// approvalCases returns the cases by name.
func approvalCases(project, outside string) map[string]approvalCase {
	patch := func(dir string) string {
		return "run: cd " + dir + " && apply_patch <<'E'⏎*** Begin Patch⏎*** Add File: made⏎+a⏎*** End Patch⏎E"
	}
	granular := func(sandbox bool) apptest.Object {
		return apptest.Object{"granular": apptest.Object{"sandbox_approval": sandbox, "rules": true,
			"mcp_elicitations": true}}
	}
	cases := map[string]approvalCase{}
	for name, policy := range map[string]any{"untrusted": "untrusted", "on-request": "on-request", "never": "never",
		"granular": granular(true), "granular without sandbox_approval": granular(false)} {
		for _, sandbox := range []string{"readOnly", "workspaceWrite", "dangerFullAccess"} {
			for _, call := range []string{"run: ls", "run: expr 1 + 1", "run: rm -f nothing", "outside: ls",
				"outside: expr 1 + 1",
				"outside: rm -f nothing", patch(project), patch(outside)} {
				cases[name+", "+sandbox+", "+call] = approvalCase{policy, sandbox, call}
			}
		}
	}
	return cases
}

// verdictOf runs a call and returns whether the server ran it, requested an approval, or rejected
// it. places are the folders in which the model may create the file, and path selects the server's
// model requests.
func (x *interchange) verdictOf(c *apptest.Client, thread, path string, a approvalCase, places ...string) string {
	requested := false
	c.OnRequest = func(apptest.Message) any {
		requested = true
		return apptest.Object{"decision": "decline"}
	}
	limits := apptest.Object{"type": a.sandbox}
	if a.sandbox == "workspaceWrite" {
		limits["excludeSlashTmp"], limits["excludeTmpdirEnvVar"] = true, true
	}
	c.Call("turn/start",
		apptest.Object{"threadId": thread, "input": apptest.TextInput(a.call), "approvalPolicy": a.policy,
			"sandboxPolicy": limits})
	c.AwaitTurn()
	prompt := x.model.conversation(path)
	last := prompt[len(prompt)-1]
	ran := strings.Contains(last, "Exit code: 0") || strings.Contains(last, "exited with code 0")
	for _, dir := range places {
		ran = os.Remove(filepath.Join(dir, "made")) == nil || ran
	}
	switch {
	case requested:
		return "asks"
	case ran:
		return "runs it"
	}
	return "refuses"
}

// TestReferenceApprovals compares the decisions of both servers on the same calls, under each
// approval policy and sandbox policy.
func TestReferenceApprovals(t *testing.T) {
	x, outside := newInterchange(t), t.TempDir()
	ours, theirs := x.ours(), x.reference()
	require.True(t, ours.Diagnostics().Sandbox.Enforced, "the kernel cannot enforce sandboxes")
	thread := apptest.Object{"cwd": x.project}
	ourThread, theirThread := ours.StartThread(thread), theirs.StartThread(thread)
	var surprises []string
	for name, a := range approvalCases(x.project, outside) {
		here := x.verdictOf(ours, ourThread, ourRequests, a, x.project, outside)
		there := x.verdictOf(theirs, theirThread, theirRequests, a, x.project, outside)
		if (here == there) == approvalDeviations[name] {
			surprises = append(surprises, name+": this server "+here+", the other "+there)
		}
	}
	require.Empty(t, surprises)
	ours.Close()
	theirs.Close()
}
