//go:build linux

package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestCapturesStoreNothingOfTheHomeDuringARace runs turns in a repository, and in a folder that is none, while a
// command exchanges a folder and a link to the home of the server. The captures of the turns store no key of the home:
// a command could read that out of their objects.
func TestCapturesStoreNothingOfTheHomeDuringARace(t *testing.T) {
	t.Parallel()
	for _, repository := range []bool{true, false} {
		t.Run(fmt.Sprintf("repository %v", repository), func(t *testing.T) {
			t.Parallel()
			project := t.TempDir()
			if repository {
				apptest.NewRepositoryIn(t, project)
			}
			require.NoError(t, os.Mkdir(filepath.Join(project, "sub"), 0o755))
			writeMany(t, filepath.Join(project, "sub"), "of the project")
			r := startRace(t, project, "")
			const key = "key-of-the-server"
			writeMany(t, r.home, key)
			for n := 0; r.goesOn(); n++ {
				r.RunScript(r.thread, apptest.ShellCall(fmt.Sprintf("echo %d > counter", n)))
			}
			r.Close()
			stores := 0
			for _, dir := range []string{project, r.home} {
				for _, store := range objectStores(t, dir) {
					stores++
					require.NotContains(t, objectsIn(t, store), key, "%s", store)
				}
			}
			require.NotZero(t, stores)
		})
	}
}

// writeMany writes files with a text, so that a capture is likely to read one at the wrong moment.
func writeMany(t *testing.T, dir, text string) {
	t.Helper()
	for n := range 300 {
		name := filepath.Join(dir, fmt.Sprintf("key%d.txt", n))
		require.NoError(t, os.WriteFile(name, []byte(fmt.Sprintf("%s %d\n", text, n)), 0o644))
	}
}

// objectStores returns the git folders below a folder.
func objectStores(t *testing.T, dir string) (stores []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "objects" {
			stores = append(stores, filepath.Dir(path))
		}
		return nil
	}))
	return stores
}

// objectsIn returns the content of all objects of a git folder.
func objectsIn(t *testing.T, store string) string {
	t.Helper()
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch")
	cmd.Env = append(os.Environ(), "GIT_DIR="+store)
	out, err := cmd.Output()
	require.NoError(t, err)
	return string(out)
}
