//go:build linux

package sandbox

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/test/apptest"
)

// swapped makes the test program the helper process of a race.
var swapped = flag.String("attack.swap", "", "two names, separated by a comma, to exchange until the process is killed")

// swapForever exchanges the two names again and again.
func swapForever() {
	a, b, _ := strings.Cut(*swapped, ",")
	for {
		_ = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
		time.Sleep(50 * time.Microsecond) // the server needs the processors, too
	}
}

// race is a workspace in which a command of the model exchanges the folder sub and a link.
type race struct {
	*apptest.Client
	model apptest.ScriptedModel
	// home is that of the server. Project is the workspace, and thread a thread in it whose commands are confined
	// and never ask.
	home, project, thread string
	end                   time.Time
}

// startRace starts the exchange in a workspace. The link leads to target, or to the home of the server if it is empty.
func startRace(t *testing.T, project, target string, args ...string) *race {
	t.Helper()
	model := apptest.NewScriptedModel(t)
	home := model.Home(t)
	if target == "" {
		target = home
	}
	c := apptest.StartServer(t, home, append([]string{"-c", "sandbox_workspace_write.exclude_slash_tmp=true",
		"-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"}, args...)...)
	c.Initialize()
	r := &race{Client: c, model: model, home: home, project: project}
	if !c.Diagnostics().Sandbox.Enforced {
		require.Empty(t, os.Getenv("CI"), "this machine confines commands")
		t.Skip("commands are not confined, so a command needs no race to leave the workspace")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(project, "sub"), 0o755))
	require.NoError(t, os.Symlink(target, filepath.Join(project, "link")))
	r.thread = c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "never", "sandbox": "workspace-write"})
	program, err := filepath.Abs(os.Args[0])
	require.NoError(t, err)
	c.RunScript(r.thread, apptest.ExecCall("exec "+program+" -attack.swap=sub,link", apptest.Object{"yield_time_ms": 250}))
	require.Eventually(t, func() bool {
		info, err := os.Lstat(filepath.Join(project, "sub"))
		return err == nil && info.Mode()&os.ModeSymlink != 0
	}, time.Minute, time.Millisecond, "the exchange runs: %s", model.LastOutput())
	r.end = time.Now().Add(*attackTime)
	return r
}

// goesOn reports whether the time of the race is not over.
func (r *race) goesOn() bool { return time.Now().Before(r.end) }

// names returns the names in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	list := []string{}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
