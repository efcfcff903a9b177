//go:build linux

package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// jail is a server whose commands are confined, with the places and processes that
// they must not reach.
type jail struct {
	*apptest.Client
	t *testing.T
	// enforced is false on a machine whose kernel refuses what confining needs. No
	// command may run there then.
	enforced bool
	// home is the server's, project the workspace, outside another folder of the same
	// user, and user the home of that user.
	home, project, outside, user string
	plain                        bool
}

// jails runs a test in a jail of this user and, if that is root, in one of a plain user. With
// -short, root runs the second only.
func jails(t *testing.T, test func(t *testing.T, j *jail)) {
	t.Parallel()
	root := os.Geteuid() == 0
	if !root || !testing.Short() {
		t.Run("same user", func(t *testing.T) {
			t.Parallel()
			test(t, newJail(t, false))
		})
	}
	if !root {
		return
	}
	t.Run("plain user", func(t *testing.T) {
		t.Parallel()
		test(t, newJail(t, true))
	})
}

// newJail takes arguments of the server, and variables.
func newJail(t *testing.T, plain bool, extra ...string) *jail {
	j := &jail{t: t, home: t.TempDir(), project: t.TempDir(), outside: t.TempDir(), user: t.TempDir(), plain: plain}
	require.NoError(t, os.WriteFile(filepath.Join(j.outside, "victim"), []byte("as it was\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(j.home, "secret"), []byte("of the server\n"), 0o644))
	j.give()
	variable := func(text string) bool { return strings.HasPrefix(text, "TMPDIR=") }
	cmd := apptest.OfflineCommand(t, j.home, append([]string{
		"-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"},
		slices.DeleteFunc(slices.Clone(extra), variable)...)...)
	cmd.Env = append(cmd.Env, "HOME="+j.user)
	for _, text := range extra {
		if variable(text) {
			cmd.Env = append(cmd.Env, text)
		}
	}
	if plain {
		cmd = apptest.Unprivileged(t, cmd, j.home)
	}
	j.Client = apptest.StartProcess(t, cmd)
	j.Initialize()
	j.enforced = j.Diagnostics().Sandbox.Enforced
	return j
}

// give gives the plain user what the test made so far.
func (j *jail) give() {
	if j.plain {
		for _, dir := range []string{j.home, j.project, j.outside, j.user} {
			apptest.GiveHome(j.t, dir)
		}
	}
}

// start starts a process that belongs to the user of the server, beside it.
func (j *jail) start(env ...string) *exec.Cmd {
	cmd := exec.Command("sleep", "300")
	cmd.Env = env
	if j.plain {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: apptest.UnprivilegedID,
			Gid: apptest.UnprivilegedID}}
	}
	require.NoError(j.t, cmd.Start())
	j.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// thread starts one whose commands run unasked, or not at all.
func (j *jail) thread(sandbox string) string {
	return j.StartThread(apptest.Object{"cwd": j.project, "approvalPolicy": "never", "sandbox": sandbox})
}

// ranCommand is how a command ended.
type ranCommand struct {
	Status           string
	AggregatedOutput string
	ExitCode         *int
}

// run runs a script to its end.
func (j *jail) run(thread, script string) (c ranCommand) {
	j.t.Helper()
	return j.ran(thread, "run: "+script)
}

// ran returns the end of the last command of a turn.
func (j *jail) ran(thread, words string) (c ranCommand) {
	j.t.Helper()
	j.BeginTurn(thread, words)
	for done := false; !done; {
		var p struct{ Item json.RawMessage }
		m := j.Next()
		done = m.Method == "turn/completed"
		if m.Method == "item/completed" && json.Unmarshal(m.Params, &p) == nil &&
			strings.Contains(string(p.Item), `"commandExecution"`) {
			require.NoError(j.t, json.Unmarshal(p.Item, &c))
		}
	}
	return c
}

// works runs a script that must succeed and returns its output. On a machine without a sandbox it must
// not run.
func (j *jail) works(thread, script string) string {
	j.t.Helper()
	c := j.run(thread, script)
	if !j.enforced {
		require.Equal(j.t, "declined", c.Status)
		return ""
	}
	require.Equal(j.t, "completed", c.Status, "%s", c.AggregatedOutput)
	return c.AggregatedOutput
}

// fails runs a script that the sandbox keeps from its work.
func (j *jail) fails(thread, script string) {
	j.t.Helper()
	c := j.run(thread, script)
	if !j.enforced {
		require.Equal(j.t, "declined", c.Status)
		return
	}
	require.Equal(j.t, "failed", c.Status, "%s", c.AggregatedOutput)
}

// interpreters returns the interpreters of this machine that all users can run, with their arguments
// for a script. There is always bash.
func interpreters(t *testing.T) map[string]string {
	found := map[string]string{}
	for name, flag := range map[string]string{"bash": "-c", "python3": "-c", "perl": "-e"} {
		for _, dir := range []string{"/usr/bin/", "/bin/"} {
			if _, err := os.Stat(dir + name); err == nil {
				found[name] = dir + name + " " + flag
			}
		}
	}
	require.Contains(t, found, "bash")
	return found
}

func TestSandboxLetsTheWorkBeDone(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		git := "git -c user.name=me -c user.email=me@example.com "
		j.works(id, "git init -q . && echo one > a && git add a && "+git+"commit -qm one")
		for name, script := range map[string]string{
			"git": "echo two >> a && git status --short && git add a && " + git +
				"commit -qm two && git log --oneline | wc -l | grep -x 2",
			"branches":      "git checkout -qb other && git branch --show-current | grep -x other && git stash list",
			"files":         "mkdir -p d/e && echo x > d/e/f && mv d/e/f d/g && ln d/g d/h && ln -s g d/i && chmod 700 d/i && rm -r d",
			"pipes":         "seq 1000 | sort -rn | head -1 | grep -x 1000 && diff <(echo a) <(echo a)",
			"sub-shells":    "x=$(echo $(echo a; (echo b))) && [ \"$x\" = 'a b' ] && cat <<< \"$x\"",
			"devices":       "echo x > /dev/null && head -c4 /dev/urandom | wc -c | grep -x 4 && echo y > /dev/stderr && echo z > /dev/shm/z && cat /dev/fd/0 < a",
			"many":          "for i in $(seq 200); do sleep 0.2 & done; wait; echo all",
			"own processes": "sleep 60 & kill $! && ! wait $! && [ -r /proc/self/status ] && ps -p $$ > /dev/null",
			"a server":      "exec 3<>/dev/udp/127.0.0.1/9 && echo x >&3",
			"reading":       "touch x && cat " + j.outside + "/victim && ls / > /dev/null",
		} {
			require.NotContains(t, j.works(id, script), "not permitted", name)
		}
		c := j.run(id, "echo before; exit 37")
		if j.enforced {
			require.Equal(t, 37, *c.ExitCode)
			require.Equal(t, "before\n", c.AggregatedOutput)
			require.Nil(t, j.run(id, "kill -TERM $$").ExitCode, "it was ended by a signal")
		}
		j.Close()
	})
}

// TestSandboxLetsGoBuild with a cache that is in the workspace, as its own cannot be written. The
// runtime is in it already: to build that takes longer than a test waits for a message.
func TestSandboxLetsGoBuild(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	j := newJail(t, false, "-c", "sandbox_workspace_write.exclude_slash_tmp=false", "TMPDIR=/tmp")
	id := j.thread("workspace-write")
	path, err := exec.LookPath("go")
	require.NoError(t, err)
	build := "GOTELEMETRY=off GOFLAGS=-mod=mod GOTOOLCHAIN=local GOCACHE=$PWD/cache " + path + " build -o m . && ./m"
	require.NoError(t, os.WriteFile(filepath.Join(j.project, "go.mod"), []byte("module m\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(j.project, "main.go"),
		[]byte("package main\nfunc main() { println(\"begun\") }\n"), 0o600))
	before := exec.Command("bash", "-c", build)
	before.Dir = j.project
	said, err := before.CombinedOutput()
	require.NoError(t, err, "%s", said)
	out := j.works(id, "sed -i s/begun/built/ main.go && "+build)
	if j.enforced {
		require.Contains(t, out, "built")
	}
	j.Close()
}

// TestSandboxLetsInterpretersWork has threads, children, pipes and sockets of their own.
func TestSandboxLetsInterpretersWork(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		scripts := map[string]string{
			"python3": `import subprocess, socket, threading, os; ` +
				`s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname()); s.accept()[0].send(b"hi"); assert c.recv(2) == b"hi"; ` +
				`a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"; ` +
				`t = threading.Thread(target=print, args=("thread",)); t.start(); t.join(); ` +
				`assert subprocess.check_output(["cat"], input=b"in") == b"in"; os.openpty(); open("made", "w").write("x"); print("worked")`,
			"perl": "open(my $p, '-|', 'echo child') or die; print <$p>; open(my $f, '>', 'made') or die $!; print $f 'x'; print \"worked\\n\";",
			"bash": "coproc cat; echo x >&${COPROC[1]}; read -u ${COPROC[0]} y; [ $y = x ] && echo > made && echo worked",
		}
		for name, call := range interpreters(t) {
			out := j.works(id, call+" "+apptest.ShellQuote(scripts[name]))
			require.Equal(t, j.enforced, strings.Contains(out, "worked"), "%s: %s", name, out)
		}
		j.Close()
	})
}

// TestSandboxHasTemporaryFolders, unless the policy excludes them.
func TestSandboxHasTemporaryFolders(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	write := "echo x > $TMPDIR/made"
	j := newJail(t, false, "TMPDIR="+tmp)
	j.fails(j.thread("workspace-write"), write)
	require.NoFileExists(t, filepath.Join(tmp, "made"))
	j.Close()
	j = newJail(t, false, "TMPDIR="+tmp, "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=false")
	id := j.thread("workspace-write")
	j.works(id, write+" && mktemp -d")
	j.fails(id, "echo x > "+filepath.Dir(tmp)+"/made")
	j.Close()
	j = newJail(t, false, "TMPDIR=/nowhere", "-c", "sandbox_workspace_write.exclude_slash_tmp=false")
	j.works(j.thread("workspace-write"), "f=$(mktemp /tmp/XXXXXX) && rm $f && cat <<< here")
	j.Close()
}

// TestSandboxReadOnly lets nothing be written, not even in the workspace.
func TestSandboxReadOnly(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("read-only")
		for _, dir := range []string{j.project, j.outside, j.user, "/tmp", "/var/tmp", "/dev", "/"} {
			j.fails(id, fmt.Sprintf("echo x > %s/made", dir))
		}
		require.NoFileExists(t, filepath.Join(j.project, "made"))
		if j.enforced {
			require.Equal(t, "as it was\n", j.works(id, "cat "+j.outside+"/victim; true > /dev/null"))
		}
		j.Close()
	})
}
