package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestSessionsNeedApprovalWithoutSandbox runs without user namespaces. A background command needs
// an approval as any other, or is rejected. Its changes are tracked, also under a read-only policy.
func TestSessionsNeedApprovalWithoutSandbox(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	cmd := apptest.ThroughShell(apptest.ServerCommand(t, o.Home(t)),
		`echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`)
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own(os.Geteuid()),
		GidMappings: own(os.Getegid())}
	if exec.Command("unshare", "--user", "true").Run() != nil {
		cmd.SysProcAttr = nil // this machine rejects them already
	}
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.False(t, c.Diagnostics().Sandbox.Enforced)
	a := &decider{Client: c, t: t, model: o, dir: p.Dir}
	c.OnRequest = func(apptest.Message) any {
		a.questions++
		return apptest.Object{"decision": a.decision}
	}
	atFirst := p.Files()
	for _, one := range []struct {
		policy, decision string
		acts             []apptest.ToolCall
		status           string
		questions        int
		changed          bool
	}{
		{"never", "accept", apptest.ExecCall("echo x > doc.txt", nil), "declined", 0, false},
		{"on-request", "decline", apptest.ExecCall("echo x > doc.txt", apptest.Object{"tty": true}), "declined", 1, false},
		{"on-request", "accept", apptest.ExecCall("cat doc.txt", nil), "completed", 0, false},
		{"on-request", "accept", apptest.ExecCall("echo x > doc.txt", apptest.Object{"tty": true}), "completed", 1, true},
		{"untrusted", "acceptForSession", apptest.ExecCall("echo x > doc.txt", nil), "completed", 1, true},
		{"on-request", "accept",
			apptest.OneCall("shell", apptest.Object{"command": "echo x > doc.txt", "sandbox_permissions": "require_escalated"}),
			"completed", 1, true},
	} {
		id := a.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "read-only", "approvalPolicy": one.policy})
		status, questions := a.runCalls(id, one.decision, one.acts)
		require.Equal(t, []any{one.status, one.questions}, []any{status, questions}, "%v", one)
		turn := a.ReadThread(id).Turns[0].ID
		require.Equal(t, one.changed, p.Files()["doc.txt"] == "x\n", "%v", one)
		require.Equal(t, one.changed,
			a.CallJSON("thread/diff/read", apptest.Object{"threadId": id, "turnId": turn}).Get("diff").Str != "", "%v", one)
		if one.changed {
			a.RevertTo(id, turn, "files")
		}
		require.Equal(t, atFirst, p.Files())
	}
	a.Close()
}

// TestRevertDuringTurnOfOtherThread reverts a thread while another one works in the same worktree
// on other files. Each is notified of its own changes.
func TestRevertDuringTurnOfOtherThread(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p, g := apptest.NewRepository(t), newGate(t)
	one, two := p.StartTrusted(c), p.StartTrusted(c)
	first := c.RunScript(one, apptest.ShellCall("echo one > one.txt; echo one > doc.txt"))
	c.BeginTurn(two, apptest.ScriptText(addFileCall("two.txt", "two"),
		apptest.ExecCall("echo begun; "+g.waitCommand(), nil),
		addFileCall("sub/three.txt", "three")))
	c.UntilOutput("begun\n")
	require.Equal(t, "turnActive",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": two, "turnId": first, "mode": "files"}).Data.Kind)
	c.RevertTo(one, first, "both")
	require.Equal(t, "one\ntwo\nthree\n", p.Files()["doc.txt"])
	g.open(t)
	end := c.UntilMethod("turn/completed")
	require.Subset(t, changedPaths(end), []string{"sub/three.txt", "two.txt"})
	require.Equal(t, "", p.Files()["one.txt"])
	require.Equal(t, "two\n", p.Files()["two.txt"])
	require.Equal(t, int64(0),
		gjson.ParseBytes(c.Call("thread/diff/read", apptest.Object{"threadId": one})).Get("summary.files.#").Int())
	require.NoFileExists(t, filepath.Join(p.Dir, "one.txt"))
	c.Close()
}

// TestWrongKeptConfinementRunsNothingUnconfined has a server that relies on the probe of an earlier one, after the
// kernel has stopped making namespaces. Its commands do not run, and then it finds out that they cannot be confined.
func TestWrongKeptConfinementRunsNothingUnconfined(t *testing.T) {
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	// The script writes what an earlier server of this boot would have kept.
	cmd := apptest.ThroughShell(apptest.ServerCommand(t, o.Home(t)), `
		mkdir -p "$CODEX_HOME/appserver-cache"
		{
			version=$("$1" version | sed 's/.*appserver \(.*\))/\1/')
			echo "$version $(stat -L -c %s "$1") $(stat -L -c %.9Y "$1" | tr -d .)"
			id -u; cat /proc/sys/kernel/random/boot_id /proc/version; readlink /proc/self/ns/user; readlink /proc/self/ns/mnt
		} > "$CODEX_HOME/appserver-cache/confinement"
		echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`)
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own(os.Geteuid()),
		GidMappings: own(os.Getegid())}
	if exec.Command("unshare", "--user", "true").Run() != nil {
		cmd.SysProcAttr = nil // this machine rejects them already
	}
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.True(t, c.Diagnostics().Sandbox.Enforced, "an earlier server has kept it")
	atFirst := p.Files()
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write", "approvalPolicy": "never"})
	a := &decider{Client: c, t: t, model: o, dir: p.Dir}
	status, questions := a.runCalls(id, "accept", apptest.ExecCall("echo x > doc.txt", nil))
	require.Contains(t, []string{"failed", "declined"}, status)
	require.Zero(t, questions)
	require.Equal(t, atFirst, p.Files())
	require.Eventually(t, func() bool { return !c.Diagnostics().Sandbox.Enforced }, 10*time.Second, 50*time.Millisecond)
	c.Close()
}
