//go:build linux && !posix

package tool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFailedProbeNamesTheSettingToChange has a folder with the settings of each system.
func TestAFailedProbeNamesTheSettingToChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, value, want string }{
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"proc/sys/kernel/unprivileged_userns_clone", "0\n", "sysctl -w kernel.unprivileged_userns_clone=1"},
		{"proc/sys/user/max_user_namespaces", "0\n", "sysctl -w user.max_user_namespaces=15000"},
		{".dockerenv", "", "--security-opt seccomp=unconfined"},
		{"run/.containerenv", "", "--security-opt seccomp=unconfined"},
		{"proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n", ""},
	} {
		root := t.TempDir()
		path := filepath.Join(root, c.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(c.value), 0o600))
		got := remedy(root, false)
		require.Contains(t, got, c.want, c.file)
		require.Equal(t, c.want == "", got == "")
		if filepath.Base(filepath.Dir(path)) == "kernel" {
			require.Empty(t, remedy(root, true), "root is not restricted")
		}
	}
}
