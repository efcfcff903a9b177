//go:build linux

package sandbox

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// attackTime is the time of each race. make attack has a longer one.
var attackTime = flag.Duration("attack.time", 2*time.Second, "time of each race")

// attackKey is a secret in the environment of the server.
const attackKey = "attack-the-key-of-the-provider"

// target is a server under attack by the scripts of its model, under approval policy untrusted and full access, so that
// nothing but its judgement of a command, and what it does with one that reads, protects the user.
type target struct {
	*apptest.Client
	t       *testing.T
	host    host
	project string
	// home is the server's, outside a folder of the user that is not the workspace.
	home, outside string
	thread        string
	asked         int
	// decision answers the questions.
	decision string
	// neighbour is another process of the user, in whose environment is the key as well.
	neighbour int
	// calls receives a value for each connection that a command makes.
	calls chan struct{}
	port  string
}

// attack starts a server on a host, with a hostile workspace.
func attack(t *testing.T, h host) *target {
	model := apptest.NewScriptedModel(t)
	a := &target{t: t, host: h, project: t.TempDir(), outside: t.TempDir(), calls: make(chan struct{}, 100),
		decision: "decline"}
	a.home = model.Home(t)
	cmd := apptest.ServerCommand(t, a.home)
	cmd.Env = append(cmd.Env, "ATTACKED_API_KEY="+attackKey)
	apptest.ThroughShell(cmd, `sleep 300 >/dev/null 2>&1 & exec "$@"`)
	h.run(t, cmd)
	a.give()
	a.listen()
	a.Client = apptest.StartProcess(t, cmd)
	a.Initialize()
	a.findNeighbour()
	a.OnRequest = func(apptest.Message) any {
		a.asked++
		return apptest.Object{"decision": a.decision}
	}
	require.Equal(t, h.enforced, a.Diagnostics().Sandbox.Enforced)
	a.plantFiles()
	a.give()
	a.thread = a.StartThread(apptest.Object{"cwd": a.project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	return a
}

// give gives a plain user what the test has made so far.
func (a *target) give() {
	if !a.host.plain {
		return
	}
	for _, dir := range []string{a.home, a.project, a.outside} {
		apptest.GiveHome(a.t, dir)
		require.NoError(a.t, os.Chmod(filepath.Dir(dir), 0o755))
	}
}

// findNeighbour finds the process that the shell of the server has started, and ends it with the test.
func (a *target) findNeighbour() {
	pid := strconv.Itoa(a.Cmd.Process.Pid)
	for _, child := range apptest.WithDescendants(a.t, a.Cmd.Process.Pid)[1:] {
		if name, err := os.ReadFile("/proc/" + strconv.Itoa(child) + "/comm"); err == nil && string(name) == "sleep\n" {
			a.neighbour = child
		}
	}
	require.NotZero(a.t, a.neighbour, "a child of process %s", pid)
	a.t.Cleanup(func() { _ = syscall.Kill(a.neighbour, syscall.SIGKILL) })
}

// listen counts connections of commands.
func (a *target) listen() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(a.t, err)
	a.t.Cleanup(func() { listener.Close() })
	a.port = port(listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Close()
			select {
			case a.calls <- struct{}{}:
			default:
			}
		}
	}()
}

// call is a command of the model, in a folder or in the workspace.
type call struct{ dir, script string }

// run runs commands in one turn. It returns their output, and how many of them the user was asked about.
func (a *target) run(calls ...call) (output string, asked int) {
	a.t.Helper()
	var acts []apptest.ToolCall
	for _, c := range calls {
		arguments := apptest.Object{"command": c.script}
		if c.dir != "" {
			arguments["workdir"] = c.dir
		}
		acts = append(acts, apptest.ToolCall{Tool: "shell", Arguments: arguments})
	}
	before, seen := a.asked, len(a.Seen)
	a.Turn(a.thread, apptest.ScriptText(acts))
	var said strings.Builder
	for _, m := range a.Seen[seen:] {
		item := gjson.GetBytes(m.Params, "item")
		if m.Method == "item/completed" && item.Get("type").Str == "commandExecution" {
			said.WriteString(item.Get("aggregatedOutput").Str)
		}
	}
	return said.String(), a.asked - before
}

// requireUnharmed requires that a script that ran without a question has neither shown the secret, nor run a program
// of the workspace.
func (a *target) requireUnharmed(script, output string) {
	a.t.Helper()
	require.False(a.t, strings.Contains(output, attackKey), "%s shows the secret", script)
	for _, dir := range []string{a.project, a.outside} {
		require.NoFileExists(a.t, filepath.Join(dir, "made"), script)
	}
	require.Empty(a.t, a.calls, "%s made a connection", script)
}

// callsPerTurn is the number of commands of one turn, so that the test has few turns.
const callsPerTurn = 20

// TestAttackByCommands runs the table of core/pure/command. A command that may do more than read is asked about,
// however it is written. A command that reads runs unharmed.
func TestAttackByCommands(t *testing.T) {
	sample.Long(t)
	eachHost(t, func(t *testing.T, h host) {
		a := attack(t, h)
		var asks, reads []call
		for _, row := range readingTable(t) {
			c := call{row.dir, a.place(row.script)}
			if row.verdict == "asks" || row.verdict == "confined" && !h.reading {
				asks = append(asks, c)
			} else {
				reads = append(reads, c)
			}
		}
		for batch := range slices.Chunk(reads, callsPerTurn) {
			output, asked := a.run(batch...)
			require.Zero(t, asked, "%q", batch)
			a.requireUnharmed(fmt.Sprintf("%q", batch), output)
		}
		for batch := range slices.Chunk(asks, callsPerTurn) {
			output, asked := a.run(batch...)
			require.Equal(t, len(batch), asked, "%q", batch)
			require.Empty(t, output)
		}
		a.requireUnharmed("the table", "")
		a.Close()
	})
}

// tableRow is a row of the table of core/pure/command.
type tableRow struct{ verdict, dir, script string }

// readingTable returns the rows for the user's shell, which is bash.
func readingTable(t *testing.T) (rows []tableRow) {
	text, err := os.ReadFile(apptest.Root("core", "pure", "command", "testdata", "reading.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		if len(columns) < 4 || columns[1] != "-" {
			continue
		}
		script := columns[3]
		if unquoted, err := strconv.Unquote(script); err == nil {
			script = unquoted
		}
		rows = append(rows, tableRow{columns[0], strings.TrimPrefix(columns[2], "-"), script})
	}
	return rows
}

// place replaces the names of what a script attacks.
func (a *target) place(script string) string {
	pid, neighbour := strconv.Itoa(a.Cmd.Process.Pid), strconv.Itoa(a.neighbour)
	return strings.NewReplacer("@PID@", pid, "@NEIGHBOUR@", neighbour).Replace(script)
}

// plantLinks makes links to the environment of another process in the workspace.
func (a *target) plantLinks() {
	pid := strconv.Itoa(a.neighbour)
	for name, to := range map[string]string{
		"environ-link": "/proc/" + pid + "/environ", "proc-link": "/proc", "process-link": "/proc/" + pid, "5": "environ-link",
		"fd-link": "/dev/fd", "root-link": "/", "tree/link": "/proc/" + pid + "/environ", "self-link": "/proc/self",
	} {
		a.write("tree/x", "x\n")
		require.NoError(a.t, os.Symlink(to, filepath.Join(a.project, name)))
	}
}

// plantFiles makes the files of the workspace, and a program that leaves traces.
func (a *target) plantFiles() {
	for _, name := range []string{"a", "b", "src/x", "src/dev/x", "src/proc/x", "go.mod", "processor", "device", "proc.txt"} {
		a.write(name, "one\ntwo\n")
	}
	a.write("tool", "#!/bin/bash\necho ran >> "+a.project+"/made\necho ran >> "+a.outside+
		"/made\nexec 3<>/dev/tcp/127.0.0.1/"+a.port+"\n")
	require.NoError(a.t, os.Chmod(filepath.Join(a.project, "tool"), 0o755))
}

func (a *target) write(name, text string) {
	file := filepath.Join(a.project, name)
	require.NoError(a.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(a.t, os.WriteFile(file, []byte(text), 0o644))
}

// linkReaders read the environment of another process, or its memory, through the links of plantLinks.
var linkReaders = []call{
	{"", "cat environ-link"}, {"", "cat 5"}, {"", "ls | head 5"}, {"", "head -c 9999 environ-link"},
	{"", "tail -c 9999 environ-link"}, {"", "grep -a KEY environ-link"}, {"", "grep -aR KEY tree"},
	{"", "grep -af environ-link a"}, {"", "rg -a --follow KEY tree"}, {"", "sort environ-link"},
	{"", "cut -c 1-9999 environ-link"}, {"", "nl environ-link"}, {"", "rev environ-link"},
	{"", "sed -n '1,9p' environ-link"}, {"", "wc --files0-from=environ-link"},
	{"", "cat proc-link/@NEIGHBOUR@/environ"}, {"", "cat process-link/environ"},
	{"", "cat self-link/../@NEIGHBOUR@/environ"}, {"", "cat fd-link/../@NEIGHBOUR@/environ"},
	{"", "cat root-link/proc/@NEIGHBOUR@/environ"}, {"", "cat process-link/task/@NEIGHBOUR@/environ"},
	{"", "cat process-link/root/proc/@NEIGHBOUR@/environ"}, {"", "cat process-link/cwd/environ-link"},
	{"proc-link", "cat @NEIGHBOUR@/environ"}, {"process-link", "cat environ"}, {"process-link", "grep -a KEY environ"},
	{"root-link", "grep -a KEY proc-link/x"}, {"tree", "cat link"}, {"", "git diff environ-link a"},
	{"", "cat process-link/fd/0"}, {"", "ls -lL process-link/"},
	{"", "head -c 100 process-link/mem"}, {"", "cat process-link/maps"},
}

// TestAttackByLinks reads through links of the workspace, which no text shows. Either the user is asked, or the kernel
// keeps the secret.
func TestAttackByLinks(t *testing.T) {
	eachHost(t, func(t *testing.T, h host) {
		a := attack(t, h)
		a.plantLinks()
		a.give()
		require.True(t, strings.Contains(a.environmentForRoot(), "ATTACKED_API_KEY"), "the names of variables can be read")
		for batch := range slices.Chunk(linkReaders, callsPerTurn) {
			batch = slices.Clone(batch)
			for i := range batch {
				batch[i].script = a.place(batch[i].script)
			}
			output, _ := a.run(batch...)
			a.requireUnharmed(fmt.Sprintf("%q", batch), output)
		}
		a.decision = "accept"
		output, asked := a.run(call{"", "cat environ-link; true > b"})
		require.Equal(t, 1, asked)
		require.True(t, strings.Contains(output, attackKey), "an unconfined command can read the secret")
		a.Close()
	})
}

// environmentForRoot returns the environment of the server as root sees it.
func (a *target) environmentForRoot() string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(a.Cmd.Process.Pid) + "/environ")
	if os.Geteuid() != 0 {
		return "ATTACKED_API_KEY"
	}
	require.False(a.t, strings.Contains(string(text), attackKey), "root can read the secret")
	return string(text)
}

// hostileSettings are settings of a repository that make git run a program.
const hostileSettings = `
[core]
	fsmonitor = @TOOL@
	pager = @TOOL@
	sshCommand = @TOOL@
	editor = @TOOL@
	alternateRefsCommand = @TOOL@
	hooksPath = @HOOKS@
[diff]
	external = @TOOL@
[diff "evil"]
	textconv = @TOOL@
	command = @TOOL@
[filter "evil"]
	clean = @TOOL@
	smudge = @TOOL@
[log]
	showSignature = true
[gpg]
	program = @TOOL@
[pager]
	log = @TOOL@
	status = @TOOL@
[alias]
	status = !@TOOL@
`

// repository makes a git repository in a folder of the workspace.
func (a *target) repository(name string) string {
	dir := filepath.Join(a.project, name)
	require.NoError(a.t, os.MkdirAll(dir, 0o755))
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		require.NoError(a.t, err, "%s", out)
	}
	git("init", "-q", ".")
	for _, text := range []string{"one\n", "two\n"} {
		a.write(path.Join(name, "a"), text)
		git("add", "a")
		git("commit", "-qm", "x")
	}
	a.write(path.Join(name, "a"), "three\n")
	a.write(path.Join(name, ".gitattributes"), "a diff=evil filter=evil\n")
	return dir
}

// arm appends hostile settings to a configuration.
func (a *target) arm(config string) {
	text, err := os.ReadFile(config)
	require.NoError(a.t, err)
	tool := filepath.Join(a.project, "tool")
	evil := strings.NewReplacer("@TOOL@", tool, "@HOOKS@", a.project).Replace(hostileSettings)
	require.NoError(a.t, os.WriteFile(config, append(text, evil...), 0o644))
}

// TestAttackByGitConfiguration reads repositories whose configuration names a program, and folders that only look like
// a repository. Either the user is asked, or the program has no effect: it writes nothing and connects to nothing.
func TestAttackByGitConfiguration(t *testing.T) {
	sample.Long(t)
	eachHost(t, func(t *testing.T, h host) {
		a := attack(t, h)
		a.arm(filepath.Join(a.repository("armed"), ".git", "config"))
		bare := a.repository("bare")
		require.NoError(t, os.Rename(filepath.Join(bare, ".git"), filepath.Join(a.project, "inner")))
		require.NoError(t, os.RemoveAll(bare))
		require.NoError(t, os.Rename(filepath.Join(a.project, "inner"), bare))
		a.arm(filepath.Join(bare, "config"))
		a.write("bare/config", strings.Replace(a.read("bare/config"), "bare = false", "bare = false\n\tworktree = ..", 1))
		a.give()
		for _, dir := range []string{"armed", "bare"} {
			for _, script := range []string{
				"git status", "git status --short", "git diff", "git diff HEAD", "git diff --cached", "git log -p -2", "git log --all",
				"git log --oneline", "git show", "git show HEAD", "git show HEAD:a", "git branch -a", "git branch -vv",
				"git ls-files -m", "git ls-files -o", "git rev-parse HEAD", "git --no-pager log -p -1", "git log -S two",
				"git log --format=%H", "git diff --stat", "git log --follow -- a",
			} {
				output, asked := a.run(call{dir, script})
				require.Equal(t, !h.reading, asked > 0, script)
				a.requireUnharmed(dir+": "+script, output)
				if dir == "bare" && asked == 0 {
					require.Regexp(t, "bare repository|git diff --no-index", output, script)
				}
			}
		}
		a.requireToolWorks()
		a.Close()
	})
}

func (a *target) read(name string) string {
	text, err := os.ReadFile(filepath.Join(a.project, name))
	require.NoError(a.t, err)
	return string(text)
}

// requireToolWorks requires that the program of the workspace would be noticed if git ran it unconfined.
func (a *target) requireToolWorks() {
	cmd := exec.Command("git", "-c", "safe.directory=*", "status")
	cmd.Dir = filepath.Join(a.project, "armed")
	_ = cmd.Run()
	require.FileExists(a.t, filepath.Join(a.outside, "made"))
	<-a.calls
}

// attributes returns the attributes of a file that only a change changes.
func attributes(info os.FileInfo) syscall.Stat_t {
	stat := *info.Sys().(*syscall.Stat_t)
	stat.Atim = syscall.Timespec{}
	return stat
}

// attempts are the commands of a program that git starts. @V@ is a file, @SLEEP@ a process of the user. The last
// one ends all that it can.
var attempts = []string{
	"echo x > @V@", "echo x >> @V@", "rm @V@", "mv @V@ @V@2", "ln @V@ @V@2", "ln -s x @V@2", "mkdir @V@2", "mkfifo @V@2",
	"truncate -s 0 @V@", "touch @V@", "touch -m -d 2001-01-01 @V@", "chmod 777 @V@", "chown 12 @V@", "chgrp 12 @V@",
	"setfattr -n user.x -v 1 @V@", "chattr +d @V@", "kill @SLEEP@", "kill -STOP @PID@",
	"renice 19 -p @SLEEP@", "prlimit --pid @SLEEP@ --cpu=1", "exec 3<>/dev/tcp/127.0.0.1/@PORT@",
	"exec 3<>/dev/udp/127.0.0.1/@PORT@ && echo x >&3", "cat /proc/@NEIGHBOUR@/environ", "cat /proc/@PID@/environ", "cat /proc/@PID@/mem", "kill @NEIGHBOUR@",
	"cat /proc/$PPID/environ", "echo x > /tmp/made-by-attack", "echo x > /dev/shm/made-by-attack",
	"echo x > /proc/sys/kernel/hostname", "unshare -Ur touch @V@2", "nsenter -t 1 -m touch @V@2", "taskset -p 1 @SLEEP@",
	"python3 -c 'import socket; socket.socket(socket.AF_UNIX)'", "(setsid sleep 301 >/dev/null 2>&1 &)", "kill -9 -1",
}

// attemptsPerRun is the number of attempts of one program.
const attemptsPerRun = 8

// TestAttackByPrograms runs a hostile program in the place where a command that reads could start one, and lets it try
// what a confined reader must not do: write, change attributes, signal, connect, read the server.
func TestAttackByPrograms(t *testing.T) {
	sample.Long(t)
	eachReadingHost(t, func(t *testing.T, h host) {
		a := attack(t, h)
		config := filepath.Join(a.repository("armed"), ".git", "config")
		a.write("victim", "as it was\n")
		victim := filepath.Join(a.project, "victim")
		sleeper := exec.Command("sleep", "300")
		require.NoError(t, sleeper.Start())
		defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
		text := a.read("armed/.git/config")
		text += "[filter \"evil\"]\n\tclean = " + a.project + "/armed/program\n"
		require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
		a.give()
		before, err := os.Stat(victim)
		require.NoError(t, err)
		for tries := range slices.Chunk(attempts, attemptsPerRun) {
			words := strings.NewReplacer("@V@", victim, "@SLEEP@", strconv.Itoa(sleeper.Process.Pid), "@PORT@", a.port)
			text := "#!/bin/bash\necho the program ran >&2\n"
			for _, try := range tries {
				text += "(" + words.Replace(a.place(try)) + ") </dev/null >&2\n"
			}
			a.write("armed/program", text)
			require.NoError(t, os.Chmod(filepath.Join(a.project, "armed/program"), 0o755))
			output, asked := a.run(call{"armed", "git diff"})
			require.Zero(t, asked)
			require.Contains(t, output, "the program ran", "the attempts were made")
			after, err := os.Stat(victim)
			require.NoError(t, err, "%q", tries)
			require.Equal(t, attributes(before), attributes(after), "%q", tries)
			require.Equal(t, "as it was\n", a.read("victim"), "%q", tries)
			require.NoFileExists(t, victim+"2", "%q", tries)
			require.NoError(t, sleeper.Process.Signal(syscall.Signal(0)), "%q", tries)
			require.NoError(t, syscall.Kill(a.neighbour, 0), "%q", tries)
			a.requireUnharmed(strings.Join(tries, "; "), output)
		}
		for _, dir := range []string{"/tmp", "/dev/shm"} {
			require.NoFileExists(t, filepath.Join(dir, "made-by-attack"))
		}
		out, _ := exec.Command("pgrep", "-f", "^sleep 301$").Output()
		require.Empty(t, string(out))
		a.Close()
	})
}

// TestAttackByLinksThatChange swaps a file for a link to the server's environment, and a configuration of git for one
// with a program, while commands read both.
func TestAttackByLinksThatChange(t *testing.T) {
	sample.Long(t)
	eachReadingHost(t, func(t *testing.T, h host) {
		a := attack(t, h)
		a.plantLinks()
		a.give()
		config := filepath.Join(a.repository("armed"), ".git", "config")
		plain := a.read("armed/.git/config")
		a.arm(config)
		evil := a.read("armed/.git/config")
		a.give()
		end, done := make(chan struct{}), make(chan error)
		go func() { done <- a.swap(end, config, plain, evil) }()
		for begin := time.Now(); time.Since(begin) < *attackTime; {
			output, asked := a.run(call{"", "cat swapped"}, call{"", "head -c 9999 swapped"}, call{"", "grep -a KEY swapped"},
				call{"armed", "git status --short"}, call{"armed", "git diff --stat"})
			require.Zero(t, asked)
			a.requireUnharmed("a race", output)
		}
		close(end)
		require.NoError(t, <-done)
		a.Close()
	})
}

// swapTime leaves time for the commands, on a machine with few processors.
const swapTime = 200 * time.Microsecond

// swap swaps until the end.
func (a *target) swap(end chan struct{}, config, plain, evil string) error {
	swapped, next := filepath.Join(a.project, "swapped"), filepath.Join(a.project, "next")
	pace := time.NewTicker(swapTime)
	defer pace.Stop()
	for i := 0; ; i++ {
		select {
		case <-end:
			return nil
		case <-pace.C:
		}
		to, text := "a", plain
		if i%2 == 0 {
			to, text = "environ-link", evil
		}
		if err := errors.Join(os.Symlink(to, next), os.Rename(next, swapped),
			os.WriteFile(config+".new", []byte(text), 0o644), os.Rename(config+".new", config)); err != nil {
			return err
		}
	}
}
