package core_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// observed is the behaviour of the reference implementation, version 0.169.0, by approval policy
// and sandbox policy. It was measured with a model that calls commands. The verdicts are: run, ask,
// refuse, and run in the sandbox and then ask to run outside. "granular" has all members set; the
// member rules makes no difference.
const observed = `
| command | sandbox | untrusted | on-request | granular | granular, no sandbox_approval | never |
| --- | --- | --- | --- | --- | --- | --- |
| only reads | all | ask | run | run | run | run |
| any other | all | ask | run | run | run | run |
| any other, and the sandbox is in its way | read-only, workspace-write | ask | run | run, then ask | run | run |
| removes files by force | all | ask | ask | ask | ask | refuse |
| only reads, asks to run outside | read-only, workspace-write | ask | ask | ask | refuse | refuse |
| only reads, asks to run outside | danger-full-access, externalSandbox | ask | run | run | refuse | refuse |
| any other, asks to run outside | read-only, workspace-write | ask | ask | ask | refuse | refuse |
| any other, asks to run outside | danger-full-access, externalSandbox | ask | run | run | refuse | refuse |
| removes by force, asks to run outside | all | ask | ask | ask | refuse | refuse |
| patch in the workspace | read-only | ask | ask | ask | refuse | refuse |
| patch in the workspace | workspace-write, danger-full-access, externalSandbox | ask | run | run | run | run |
| patch elsewhere | read-only, workspace-write | ask | ask | ask | refuse | refuse |
| patch elsewhere | danger-full-access, externalSandbox | ask | run | run | run | run |
`

// deviations are the differences of this server, by command and policy, with the reason.
var deviations = map[[2]string]struct{ verdict, why string }{
	{"only reads", "untrusted"}: {"run",
		"a user who wants to decide on commands needs no questions about ls"},
	{"any other, and the sandbox is in its way", "on-request"}: {"run, then ask",
		"the reference implementation relies on the model to ask, which not every model does"},
}

// cell is one case of the matrix.
type cell struct{ command, sandbox, policy string }

var allSandboxes = []string{"read-only", "workspace-write", "danger-full-access", "externalSandbox"}

// readMatrix reads the first table of a text whose first column is "command".
func readMatrix(t *testing.T, text string) map[cell]string {
	matrix := map[cell]string{}
	var policies []string
	for line := range strings.Lines(text) {
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range columns {
			columns[i] = strings.Trim(strings.TrimSpace(columns[i]), "`*")
			columns[i] = strings.ReplaceAll(columns[i], "`", "")
		}
		switch {
		case columns[0] == "command" && policies == nil:
			policies = columns[2:]
		case policies != nil && len(columns) != len(policies)+2:
			return matrix
		case policies == nil, columns[0] == "---":
			continue
		default:
			sandboxes := strings.Split(columns[1], ", ")
			if columns[1] == "all" {
				sandboxes = allSandboxes
			}
			for _, sandbox := range sandboxes {
				for i, policy := range policies {
					at := cell{columns[0], sandbox, policy}
					require.NotContains(t, matrix, at)
					matrix[at] = columns[2+i]
				}
			}
		}
	}
	return matrix
}

// matrixCalls are the model's calls for the commands of the matrix.
var matrixCalls = map[string]string{
	"only reads":                               `{"command":"cat a"}`,
	"only reads, opens no file":                `{"command":"ls"}`,
	"only reads, and the kernel confines it":   `{"command":"cat a"}`,
	"any other":                                `{"command":"make"}`,
	"any other, and the sandbox is in its way": `{"command":"make"}`,
	"removes files by force":                   `{"command":"rm -rf build"}`,
	"only reads, asks to run outside":          `{"command":"cat a","sandbox_permissions":"require_escalated","justification":"May I?"}`,
	"any other, asks to run outside":           `{"command":"make","sandbox_permissions":"require_escalated","justification":"May I?"}`,
	"removes by force, asks to run outside":    `{"command":"rm -rf build","sandbox_permissions":"require_escalated"}`,
	"patch in the workspace":                   `{"command":"apply_patch <<'E'\n*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\nE"}`,
	"patch elsewhere":                          `{"command":"cd /other && apply_patch <<'E'\n*** Begin Patch\n*** Add File: f\n+a\n*** End Patch\nE"}`,
}

func matrixPolicy(name string) string {
	const granular = `{"granular":{"sandbox_approval":%t,"rules":true,"mcp_elicitations":true}}`
	switch name {
	case "granular":
		return fmt.Sprintf(granular, true)
	case "granular, no sandbox_approval":
		return fmt.Sprintf(granular, false)
	}
	return name
}

// verdictOf runs the command in a thread and returns the verdict.
func verdictOf(t *testing.T, at cell, enforced bool) string {
	sandbox := at.sandbox
	if sandbox == "externalSandbox" {
		sandbox = `{"type":"externalSandbox"}`
	}
	said := func(m *machine, lines ...string) string {
		text, err := runBlock(m, strings.Join(lines, "\n"))
		require.NoError(t, err)
		return text
	}
	m := newMachine(t.Errorf)
	reading := "unconfined"
	if enforced || strings.HasSuffix(at.command, "the kernel confines it") {
		reading = "confined"
	}
	_ = said(m, "start", fmt.Sprintf("world enforced=%t reading=%s", enforced, reading),
		fmt.Sprintf("turn-start go policy=`%s` sandbox=`%s`", matrixPolicy(at.policy), sandbox))
	text := said(m, "sample-done call=`a:shell:"+matrixCalls[at.command]+"`")
	if strings.HasPrefix(at.command, "patch") {
		text = said(m, "patch-planned")
	}
	switch {
	case strings.Contains(text, "\nask "):
		return "ask"
	case !strings.Contains(text, "\nrun ") && !strings.Contains(text, "\nwrite "):
		return "refuse"
	case strings.HasSuffix(at.command, "in its way") &&
		strings.Contains(said(m, `tool-done exit=1 output="make: Read-only file system"`), "\nask "):
		return "run, then ask"
	}
	return "run"
}

// TestVerdictsEqualTheReferenceImplementation compares the verdicts with those of the reference implementation, except
// for the deviations.
func TestVerdictsEqualTheReferenceImplementation(t *testing.T) {
	matrix := readMatrix(t, observed)
	require.Len(t, matrix, (8*4+2)*5)
	for at, theirs := range matrix {
		want := theirs
		if d, deviates := deviations[[2]string{at.command, at.policy}]; deviates {
			require.NotEqual(t, theirs, d.verdict, "%v is no deviation", at)
			want = d.verdict
		}
		require.Equal(t, want, verdictOf(t, at, true), "%v", at)
	}
}

// TestDocsHaveTheVerdicts compares the verdicts with both tables of docs/approvals.md: with a kernel that
// confines, and without.
func TestDocsHaveTheVerdicts(t *testing.T) {
	text, err := os.ReadFile("../docs/approvals.md")
	require.NoError(t, err)
	confined, unconfined, found := strings.Cut(string(text), "## If the kernel cannot confine commands")
	require.True(t, found)
	matrix := readMatrix(t, confined)
	for at := range readMatrix(t, observed) {
		require.Contains(t, matrix, at)
	}
	for at, want := range matrix {
		require.Equal(t, want, verdictOf(t, at, true), "%v", at)
	}
	matrix = readMatrix(t, unconfined)
	require.NotEmpty(t, matrix)
	for at, want := range matrix {
		require.Equal(t, want, verdictOf(t, at, false), "%v", at)
	}
}
