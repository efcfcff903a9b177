package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// A policy that is spelled out is the same policy when it is read again.
func TestProfilesKeepPolicies(t *testing.T) {
	for _, policy := range []protocol.SandboxPolicyVariant{
		&protocol.DangerFullAccess{},
		&protocol.ExternalSandbox{NetworkAccess: protocol.NetworkEnabled},
		&protocol.ReadOnly{}, &protocol.ReadOnly{NetworkAccess: true},
		&protocol.WorkspaceWrite{WritableRoots: []string{}},
		&protocol.WorkspaceWrite{WritableRoots: []string{"/other"}, NetworkAccess: true, ExcludeTmpdirEnvVar: true,
			ExcludeSlashTmp: true},
	} {
		p := protocol.SandboxPolicy{SandboxPolicyVariant: policy}
		raw, err := protocol.Marshal(p.Profile("/repo"))
		require.NoError(t, err)
		var profile protocol.PermissionProfile
		require.NoError(t, json.Unmarshal(raw, &profile))
		require.Equal(t, p, profile.Policy("/repo"), string(raw))
	}
}

// Profiles that no policy equals become one that allows less.
func TestForeignProfilesAreNeverWidened(t *testing.T) {
	for raw, want := range map[string]protocol.SandboxPolicyVariant{
		`{"type":"managed"}`: &protocol.ReadOnly{},
		`{"type":"new"}`:     &protocol.ReadOnly{},
		`{"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"path","path":"/else"},"access":"write"}]},"network":"enabled"}`:                                            &protocol.ReadOnly{NetworkAccess: true},
		`{"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"path","path":"/repo"},"access":"write"},{"path":{"type":"path","path":"/repo"},"access":"read"}]}}`:        &protocol.ReadOnly{},
		`{"type":"managed","file_system":{"type":"restricted","entries":[{"path":{"type":"path","path":"/repo"},"access":"write"},{"path":{"type":"path","path":"/repo/secret"},"access":"none"}]}}`: &protocol.ReadOnly{},
		`{"type":"external"}`: &protocol.ExternalSandbox{NetworkAccess: protocol.NetworkRestricted},
	} {
		var profile protocol.PermissionProfile
		require.NoError(t, json.Unmarshal([]byte(raw), &profile))
		require.Equal(t, want, profile.Policy("/repo").SandboxPolicyVariant, raw)
	}
}
