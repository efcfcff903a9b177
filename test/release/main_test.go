package release

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// madeReleases returns folders with a release: the one that APPSERVER_RELEASE names, or, if that is make,
// two that are made for this platform in two clones of the repository.
var madeReleases = sync.OnceValues(func() ([]string, error) {
	given := os.Getenv("APPSERVER_RELEASE")
	if given != "make" {
		return []string{given}, nil
	}
	dir, err := apptest.BuildDir()
	if err != nil {
		return nil, err
	}
	var releases []string
	for _, name := range []string{"first", "a second clone"} {
		clone := filepath.Join(dir, name)
		if out, err := exec.Command("git", "clone", "--quiet", apptest.Root(), clone).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git clone: %w\n%s", err, out)
		}
		cmd := exec.Command("make", "release", "TARGETS="+runtime.GOOS+"/"+runtime.GOARCH, "EXCLUDE=", "VERSION=7.8.9")
		cmd.Dir = clone
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("make release: %w\n%s", err, out)
		}
		releases = append(releases, filepath.Join(clone, "bin", "release"))
	}
	return releases, nil
})

// artefacts is a folder with a release.
type artefacts struct {
	dir, version string
}

func released(t *testing.T) artefacts {
	t.Helper()
	if os.Getenv("APPSERVER_RELEASE") == "" {
		t.Skip("make test-release runs this test")
	}
	made, err := madeReleases()
	require.NoError(t, err)
	a := artefacts{dir: made[0]}
	found := a.find(t, "appserver_*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz")
	a.version = strings.Split(filepath.Base(found), "_")[1]
	return a
}

// find returns the path of the only file that a pattern matches.
func (a artefacts) find(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(a.dir, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1, pattern)
	return found[0]
}

// output runs a command in a folder and returns what it prints.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// requireProgram requires a program on machines of CI, and skips the test on others without it.
func requireProgram(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		require.NotEqual(t, "true", os.Getenv("CI"), "install %s", name)
		t.Skip(err)
	}
}

var demo = sync.OnceValues(func() (string, error) { return apptest.Build("demo", "./docs/demo") })

// requireDemo runs the demo with an installed program, which has the version of the release.
func (a artefacts) requireDemo(t *testing.T, program string) {
	t.Helper()
	require.Regexp(t, `^codex-cli \S+ \(appserver `+regexp.QuoteMeta(a.version)+`\)\n$`,
		output(t, t.TempDir(), program, "--version"))
	client, err := demo()
	require.NoError(t, err)
	require.Contains(t, output(t, t.TempDir(), client, program), "The conversation survived the restart")
}
