package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/tool"
	"appserver/protocol"
	"appserver/test/apptest"
)

// BenchmarkCommand runs a command that does nothing: by itself, under the supervisor,
// and confined. The budget is what confining may cost beyond supervising.
func BenchmarkCommand(b *testing.B) {
	path, err := apptest.Binary()
	require.NoError(b, err)
	supervised := &tool.Shell{Supervisor: []string{path, "supervise-command"}}
	confined := &tool.Shell{Confiner: []string{path, "confine-command"}}
	for _, way := range []struct {
		name   string
		shell  *tool.Shell
		policy protocol.SandboxMode
	}{
		{"direct", &tool.Shell{}, protocol.SandboxDangerFullAccess},
		{"supervised", supervised, protocol.SandboxDangerFullAccess},
		{"read-only", confined, protocol.SandboxReadOnly},
		{"workspace-write", confined, protocol.SandboxWorkspaceWrite},
	} {
		b.Run(way.name, func(b *testing.B) {
			dir := b.TempDir()
			c := core.Command{Argv: []string{"/bin/sh", "-c", "true"}, Cwd: dir, Workspace: dir, Sandbox: way.policy.Policy()}
			for b.Loop() {
				r := way.shell.Run(b.Context(), c, nil, func(string) {}, func(string) {})
				require.Equal(b, 0, *r.ExitCode, r)
			}
			b.ReportMetric(4, "budget-ms")
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
		})
	}
}
