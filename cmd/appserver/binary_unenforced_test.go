package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryAsksForSessionsWhereTheKernelRefuses: without user namespaces a command that stays is
// asked for as any other, or not run; what it then does is tracked, under a policy that would let
// it write nothing, too.
func TestBinaryAsksForSessionsWhereTheKernelRefuses(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	cmd := throughShell(serverCommand(t, o.home(t)), `echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`)
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own(os.Geteuid()), GidMappings: own(os.Getegid())}
	if exec.Command("unshare", "--user", "true").Run() != nil {
		cmd.SysProcAttr = nil // this machine refuses them by itself
	}
	c := dial(t, cmd)
	c.initialize()
	require.False(t, c.diagnostics().Sandbox.Enforced)
	a := &decider{client: c, t: t, model: o, dir: p.dir}
	c.onAsk = func(message) any {
		a.asked++
		return object{"decision": a.decision}
	}
	atFirst := p.files()
	for _, one := range []struct {
		policy, decision string
		acts             []act
		status           string
		asked            int
		changed          bool
	}{
		{"never", "accept", runsExec("echo x > doc.txt", nil), "declined", 0, false},
		{"on-request", "decline", runsExec("echo x > doc.txt", object{"tty": true}), "declined", 1, false},
		{"on-request", "accept", runsExec("cat doc.txt", nil), "completed", 0, false},
		{"on-request", "accept", runsExec("echo x > doc.txt", object{"tty": true}), "completed", 1, true},
		{"untrusted", "acceptForSession", runsExec("echo x > doc.txt", nil), "completed", 1, true},
		{"on-request", "accept", call("shell", object{"command": "echo x > doc.txt", "sandbox_permissions": "require_escalated"}), "completed", 1, true},
	} {
		id := a.startThread(object{"cwd": p.dir, "sandbox": "read-only", "approvalPolicy": one.policy})
		status, asked := a.decides(id, one.decision, one.acts)
		require.Equal(t, []any{one.status, one.asked}, []any{status, asked}, "%v", one)
		turn := a.readThread(id).Turns[0].ID
		require.Equal(t, one.changed, p.files()["doc.txt"] == "x\n", "%v", one)
		require.Equal(t, one.changed, a.get("thread/diff/read", object{"threadId": id, "turnId": turn}).Get("diff").Str != "", "%v", one)
		if one.changed {
			a.revertTo(id, turn, "files")
		}
		require.Equal(t, atFirst, p.files())
	}
	a.close()
}

// TestBinaryRevertsBesideAnothersTurn: while a thread is at work in the worktree another one can go
// back where they do not meet, and each is told its own.
func TestBinaryRevertsBesideAnothersTurn(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p, g := newRepository(t), newGate(t)
	one, two := p.trusting(c), p.trusting(c)
	first := c.done(one, runsShell("echo one > one.txt; echo one > doc.txt"))
	c.beginTurn(two, does(addsFile("two.txt", "two"), runsExec("echo begun; "+g.waits(), nil), addsFile("sub/three.txt", "three")))
	c.untilOutput("begun\n")
	require.Equal(t, "turnActive", c.refused("thread/checkpoint/revert", object{"threadId": two, "turnId": first, "mode": "files"}).Data.Kind)
	c.revertTo(one, first, "both")
	require.Equal(t, "one\ntwo\nthree\n", p.files()["doc.txt"])
	g.open(t)
	end := c.untilMethod("turn/completed")
	require.Subset(t, changed(end), []string{"sub/three.txt", "two.txt"})
	require.Equal(t, "", p.files()["one.txt"])
	require.Equal(t, "two\n", p.files()["two.txt"])
	require.Equal(t, int64(0), gjson.ParseBytes(c.call("thread/diff/read", object{"threadId": one})).Get("summary.files.#").Int())
	require.NoFileExists(t, filepath.Join(p.dir, "one.txt"))
	c.close()
}
