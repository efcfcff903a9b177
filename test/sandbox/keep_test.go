//go:build linux

package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestSandboxKeepsGitFromRunningPrograms requires that confined commands cannot change the hooks and
// the configuration of the repository.
func TestSandboxKeepsGitFromRunningPrograms(t *testing.T) {
	sample.Long(t)
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		j.works(id, "git init -q . && rm -r .git/hooks") // there was none to protect before
		config := filepath.Join(j.project, ".git", "config")
		before, err := os.ReadFile(config)
		require.Equal(t, j.enforced, err == nil)
		for _, script := range []string{
			"echo x > .git/hooks/pre-commit",
			"mkdir -p .git/hooks && touch .git/hooks/x",
			"rmdir .git/hooks && mkdir .git/hooks && touch .git/hooks/x",
			"mv .git/hooks .git/h",
			"mv .git .g",
			"cp -r .git .g && rm -r .git && mv .g .git",
			"echo '[core] fsmonitor = ./x' >> .git/config",
			"git config core.hooksPath .",
			"cp .git/config c && mv c .git/config",
			"rm .git/config",
			"ln -f .git/config c && echo x >> c",
			"chmod 777 .git/hooks",
		} {
			j.fails(id, script)
		}
		after, _ := os.ReadFile(config)
		require.Equal(t, string(before), string(after))
		left, _ := os.ReadDir(filepath.Join(j.project, ".git", "hooks"))
		require.Empty(t, left)
		j.Close()
	})
}

// TestSandboxKeepsSubmodules: their repositories, the files that name them, and what makes
// git look for its configuration elsewhere.
func TestSandboxKeepsSubmodules(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		for _, dir := range []string{".git/hooks", ".git/modules/lib/hooks", ".git/worktrees/other", "deep/lib"} {
			require.NoError(t, os.MkdirAll(filepath.Join(j.project, dir), 0o755))
		}
		files := map[string]string{
			".git/config": "[core]\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/modules/lib/config": "[core]\n",
			".git/worktrees/other/commondir": "../..\n", "deep/lib/.git": "gitdir: ../../.git/modules/lib\n",
			".gitmodules": "[submodule \"lib\"]\n\tpath = deep/lib\n\turl = x\n[submodule \"out\"]\n\tpath = ../out\n",
		}
		for name, text := range files {
			require.NoError(t, os.WriteFile(filepath.Join(j.project, name), []byte(text), 0o644))
		}
		j.give()
		id := j.thread("workspace-write")
		for _, script := range []string{
			"echo x > .git/modules/lib/hooks/post-checkout", "echo x >> .git/modules/lib/config", "mv .git/modules .git/m",
			"echo evil > .git/worktrees/other/commondir", "echo gitdir: evil > deep/lib/.git", "mv deep/lib deep/old",
			"mv deep old",
			"rm deep/lib/.git",
		} {
			j.fails(id, script)
		}
		j.works(id, "echo x > deep/lib/file && echo ../evil > .git/commondir && echo x > .git/index")
		require.NoFileExists(t, filepath.Join(j.project, ".git/commondir"))
		for name, text := range files {
			now, err := os.ReadFile(filepath.Join(j.project, name))
			require.NoError(t, err)
			require.Equal(t, text, string(now))
		}
		j.Close()
	})
}

// TestSandboxKeepsLinkedWorktreesLinked: the file that names the repository.
func TestSandboxKeepsLinkedWorktreesLinked(t *testing.T) {
	t.Parallel()
	j := newJail(t, false)
	link := filepath.Join(j.project, ".git")
	require.NoError(t, os.WriteFile(link, []byte("gitdir: /nowhere\n"), 0o644))
	id := j.thread("workspace-write")
	j.fails(id, "echo gitdir: evil > .git")
	j.fails(id, "rm .git; mkdir .git && touch .git/config")
	text, err := os.ReadFile(link)
	require.NoError(t, err)
	require.Equal(t, "gitdir: /nowhere\n", string(text))
	j.Close()
}

// TestSandboxKeepsTheServersHome requires that confined commands can neither read nor write the
// server's home, even if it is in the workspace or is the workspace.
func TestSandboxKeepsTheServersHome(t *testing.T) {
	sample.Long(t)
	jails(t, func(t *testing.T, j *jail) {
		above := filepath.Dir(j.home)
		if j.plain {
			require.NoError(t, os.Chown(above, apptest.UnprivilegedID, apptest.UnprivilegedID))
		}
		for _, cwd := range []string{j.project, above, j.home} {
			id := j.StartThread(apptest.Object{"cwd": cwd, "approvalPolicy": "never", "sandbox": "workspace-write"})
			for _, script := range []string{
				"echo x > @/new", "echo x >> @/secret", "rm @/secret", "mv @ @.away", "ln -sfn /etc @/sessions/link", "mkdir @/new",
			} {
				j.fails(id, replace(script, j.home))
			}
			if cwd != j.home {
				j.fails(id, replace("touch x; cat @/secret", j.home))
			}
		}
		text, err := os.ReadFile(filepath.Join(j.home, "secret"))
		require.NoError(t, err)
		require.Equal(t, "of the server\n", string(text))
		j.Close()
	})
}

// TestSandboxShowsFilesOfTools: confined commands read what tools returned, and nothing else in the server's home. They
// cannot change or run it.
func TestSandboxShowsFilesOfTools(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		dir := filepath.Join(j.home, "tool-files", "thread")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a.pdf"), []byte("#!/bin/sh\necho ran\n"), 0o700))
		j.give()
		for _, sandbox := range []string{"workspace-write", "read-only"} {
			id := j.thread(sandbox)
			if read := j.works(id, "echo > /dev/null; cat "+dir+"/a.pdf && ls "+j.home); j.enforced {
				require.Equal(t, "#!/bin/sh\necho ran\ntool-files\n", read)
			}
			for _, script := range []string{"echo x >> @/a.pdf", "rm @/a.pdf", "touch @/../new", "mv @ @.away",
				"echo > /dev/null; @/a.pdf", "echo > /dev/null; cat @/../../secret"} {
				j.fails(id, replace(script, dir))
			}
		}
		j.Close()
	})
}

// TestSandboxOfTheWholeDisk: a workspace that is everything has no devices, settings
// of the machine, or home of the server in it.
func TestSandboxOfTheWholeDisk(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.StartThread(apptest.Object{"cwd": "/", "approvalPolicy": "never", "sandbox": "workspace-write"})
		j.works(id, "echo x > "+j.project+"/made && echo x > "+j.outside+"/made")
		for _, script := range []string{
			"echo x > @/secret", "mv @ @.away", "touch /dev/x", "echo 1 > /proc/sys/kernel/sysrq", "touch /sys/x", "touch " +
				j.project + "/made; cat @/secret",
		} {
			j.fails(id, replace(script, j.home))
		}
		j.Close()
	})
}

func replace(script, path string) string {
	var text []byte
	for _, b := range []byte(script) {
		if b == '@' {
			text = append(text, path...)
		} else {
			text = append(text, b)
		}
	}
	return string(text)
}

// TestSandboxOpensRootsAndTheNetwork requires that the policy opens only what it names.
func TestSandboxOpensRootsAndTheNetwork(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		dial := "exec 3<>/dev/tcp/127.0.0.1/" + port(listener.Addr())
		in := j.project + "/in"
		require.NoError(t, os.Mkdir(in, 0o755))
		require.NoError(t, os.Symlink(j.user, j.project+"/link"))
		j.give()
		id := j.thread("workspace-write")
		j.fails(id, dial)
		j.Call("turn/start",
			apptest.Object{"threadId": id, "input": []any{apptest.Object{"type": "text", "text": "run: true"}},
				"sandboxPolicy": apptest.Object{
					"type": "workspaceWrite", "writableRoots": []string{j.outside, in, j.project + "/link", "/nowhere"},
					"networkAccess": true, "excludeSlashTmp": true, "excludeTmpdirEnvVar": true}})
		j.AwaitTurn()
		j.works(id, dial)
		j.works(id, "echo x > "+j.outside+"/new && echo x > in/new && echo x > new")
		j.fails(id, "echo x > "+j.user+"/new")
		j.fails(id, "echo x > link/new")
		if path, ok := interpreters(t)["python3"]; ok {
			j.fails(id, path+` 'import socket; socket.socket(socket.AF_UNIX)'`)
		}
		j.Close()
	})
}

// TestSandboxLeavesNothingBehind, however the processes try to stay, and however the
// command ends.
func TestSandboxLeavesNothingBehind(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		b := apptest.NewProcessTree()
		script := "export TREE_TOKEN=" + b.Token +
			"; trap '' TERM HUP INT; nohup sleep 600 >/dev/null 2>&1 & (setsid sleep 600 >/dev/null 2>&1 &); " +
			"(setsid env -i bash -c 'trap \"\" TERM; (exec -a " + b.Token + " sleep 600 >/dev/null 2>&1 &)' &); echo left > left"
		j.works(id, script)
		require.Empty(t, b.Alive(t))
		if !j.enforced {
			require.NoFileExists(t, filepath.Join(j.project, "left"))
			j.Close()
			return
		}
		b, turn := j.StartProcessTree(t, id)
		begin := time.Now()
		j.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
		require.Equal(t, "interrupted", j.AwaitTurn().Status)
		require.Less(t, time.Since(begin), 10*apptest.CleanupLimit)
		require.Empty(t, b.Alive(t))
		b, _ = j.StartProcessTree(t, id)
		j.Kill()
		require.Eventually(t, func() bool { return len(b.Alive(t)) == 0 }, apptest.Timeout, 10*time.Millisecond)
	})
}

// TestSandboxBoundsProcesses runs a command that starts as many processes as it can. The machine and
// the server keep working.
func TestSandboxBoundsProcesses(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		out := j.works(id, "ulimit -u; cat /proc/sys/kernel/pid_max")
		if j.enforced {
			require.Regexp(t, `^(4096|[1-3]?\d{1,3})\n`, out)
		}
		j.Close()
	})
}

// TestSandboxGuardsItsFirstProcess, which is not confined as the command is.
func TestSandboxGuardsItsFirstProcess(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		for _, name := range []string{"environ", "mem", "maps", "fd/3", "root/etc/passwd", "auxv"} {
			j.fails(id, "touch x; head -c1 /proc/1/"+name)
		}
		j.works(id, "touch x; kill -STOP 1; kill -KILL 1; echo goes on")
		j.Close()
	})
}

// TestSandboxLeavesRootItsFiles requires that root can use files of other users in the workspace.
func TestSandboxLeavesRootItsFiles(t *testing.T) {
	t.Parallel()
	j := newJail(t, false)
	id := j.thread("workspace-write")
	if os.Geteuid() == 0 {
		apptest.GiveHome(t, j.project)
		require.NoError(t, os.Chmod(j.project, 0o700))
	}
	j.works(id, "echo x > made && chmod 600 made && chown $(id -u) made && [ $(stat -c %u .) = $(stat -c %u $PWD) ]")
	j.fails(id, "chown 1 "+j.outside+"/victim")
	j.Close()
}

// TestSandboxAsksIfTheKernelRefuses disables user namespaces. Commands then run unconfined, need
// approval, and the client is warned.
func TestSandboxAsksIfTheKernelRefuses(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	cmd := apptest.ThroughShell(apptest.OfflineCommand(t, home), `echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"`)
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, UidMappings: own(os.Geteuid()), GidMappings: own(os.Getegid())}
	if exec.Command("unshare", "--user", "true").Run() != nil {
		cmd.SysProcAttr = nil // this machine refuses them by itself
	}
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	sandbox := c.Diagnostics().Sandbox
	require.False(t, sandbox.Enforced)
	require.Contains(t, *sandbox.Reason, "cannot make namespaces")
	asked := 0
	c.OnRequest = func(apptest.Message) any {
		asked++
		require.NoFileExists(t, filepath.Join(project, "made"))
		return apptest.Object{"decision": "accept"}
	}
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "never", "sandbox": "workspace-write"})
	c.BeginTurn(id, "run: touch made")
	require.Equal(t, "declined", c.UntilCommand().Status)
	c.AwaitTurn()
	require.Zero(t, asked)
	id = c.StartThread(apptest.Object{"cwd": project, "sandbox": "workspace-write"})
	c.BeginTurn(id, "run: touch made")
	require.Equal(t, "completed", c.UntilCommand().Status)
	c.AwaitTurn()
	require.Equal(t, 1, asked)
	require.FileExists(t, filepath.Join(project, "made"))
	c.Close()
}

// TestSandboxOffersToRunOutside what it kept from its work.
func TestSandboxOffersToRunOutside(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		asked := 0
		j.OnRequest = func(apptest.Message) any {
			asked++
			require.NoFileExists(t, filepath.Join(j.outside, "made"))
			return apptest.Object{"decision": "accept"}
		}
		id := j.StartThread(apptest.Object{"cwd": j.project, "approvalPolicy": "on-request", "sandbox": "workspace-write"})
		require.Equal(t, "completed", j.run(id, "echo x > "+j.outside+"/made").Status)
		require.Equal(t, 1, asked)
		require.FileExists(t, filepath.Join(j.outside, "made"))
		j.Close()
	})
}

// TestSandboxKeepsProtectedFolders requires that existing folders with configuration and skills do not
// change, and that commands cannot create them, even two at the same time.
func TestSandboxKeepsProtectedFolders(t *testing.T) {
	jails(t, func(t *testing.T, j *jail) {
		id := j.thread("workspace-write")
		makes := []string{
			"mkdir .codex", "mkdir -p .agents/skills/evil", "echo x > .codex", "touch .codex/config.toml", "ln -s /tmp .agents",
			"mkdir z && mv z .codex/config.toml", "mv -T z .codex", "rmdir .codex", "mv .codex away", "mv .agents away",
			"(mkdir a; mv -T a .agents) & wait $!",
		}
		for _, script := range makes {
			j.fails(id, script)
			for _, name := range []string{".codex", ".agents"} {
				_, err := os.Lstat(filepath.Join(j.project, name))
				require.Equal(t, j.enforced, err != nil, "%s leaves %s", script, name)
			}
			if !j.enforced {
				return
			}
		}
		require.NoError(t, os.MkdirAll(filepath.Join(j.project, ".codex"), 0o755))
		config := filepath.Join(j.project, ".codex", "config.toml")
		require.NoError(t, os.WriteFile(config, []byte("a = 1\n"), 0o644))
		j.give()
		for _, script := range append(makes, "echo b = 2 >> .codex/config.toml", "rm -r .codex", "chmod 777 .codex",
			"touch .codex/new") {
			j.fails(id, script)
		}
		text, err := os.ReadFile(config)
		require.NoError(t, err)
		require.Equal(t, "a = 1\n", string(text))
		j.works(id, "mkdir -p sub/.codex && cat .codex/config.toml && touch AGENTS.md")
		j.Close()
	})
}
