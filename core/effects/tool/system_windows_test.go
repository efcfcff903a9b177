package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"appserver/core"
	"appserver/core/pure/toolspec"
	"appserver/platform/osfile"
	"appserver/protocol"
)

func TestCommandLinesKeepArguments(t *testing.T) {
	for line, argv := range map[string][]string{
		`a.exe "" "two words" \"`:           {`a.exe`, "", "two words", `"`},
		`cmd.exe /s /c "echo "a b" & dir"`:  {"cmd.exe", "/c", `echo "a b" & dir`},
		`cmd.exe /d /s /C "type "my file""`: {"cmd.exe", "/d", "/C", "type", "my file"},
		`C:\x\cmd.exe /s /k ""`:             {`C:\x\cmd.exe`, "/k"},
		`cmd.exe /?`:                        {"cmd.exe", "/?"},
		`notcmd.exe /c "echo a"`:            {"notcmd.exe", "/c", "echo a"},
	} {
		_, got, err := commandLine(argv[0], argv)
		require.NoError(t, err)
		require.Equal(t, line, got)
	}
	program, line, err := commandLine(`C:\bin\x.CMD`, []string{"x", "a b", `q"`, "%PATH%", `d\`, "&"})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(strings.ToLower(program), `\system32\cmd.exe`), program)
	require.Equal(t, program+` /d /e:ON /v:OFF /s /c ""C:\bin\x.CMD" "a b" "q""" "%%cd:~,%PATH%%cd:~,%" "d\\" "&""`, line)
	_, _, err = commandLine("x.bat", []string{"x", "a\nb"})
	require.ErrorContains(t, err, "line break")
}

func TestCmdRunsScripts(t *testing.T) {
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, core.Command{Argv: []string{"cmd", "/c", `echo "a b"& echo c& exit 5`}, Cwd: t.TempDir()})
		require.Equal(t, new(5), result.ExitCode, result.Failure)
		require.Equal(t, "\"a b\"\r\nc\r\n", result.Output)
	})
}

func TestPowerShellRunsScriptsInUTF8(t *testing.T) {
	if onWine() {
		t.Skip("Wine 8 has no PowerShell")
	}
	parsed, err := toolspec.ParseShell(`{"command":"Write-Output 'é \"x\"'; exit 3"}`, "", "powershell.exe")
	require.NoError(t, err)
	both(t, func(t *testing.T, s *Shell) {
		result, _ := run(t, s, core.Command{Argv: parsed.Argv, Cwd: t.TempDir()})
		require.Equal(t, new(3), result.ExitCode, result.Failure)
		require.Equal(t, "é \"x\"\r\n", result.Output)
	})
}

func TestBatchFilesAreFoundAndGetTheirArguments(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "greet.cmd"), []byte("@echo hello %1 from %CD%\r\n@exit /b 4\r\n"), 0o600))
	s := &Shell{Env: []string{"Path=relative;" + dir}}
	for _, name := range []string{"greet", "greet.cmd", `.\greet`, filepath.Join(dir, "greet")} {
		result, _ := run(t, s, core.Command{Argv: []string{name, "a&b"}, Cwd: dir})
		require.Equal(t, new(4), result.ExitCode, result.Failure)
		require.Equal(t, `hello "a&b" from `+dir+"\r\n", result.Output)
	}
}

// TestExitCodesHave32Bits: the protocol has them as signed numbers.
func TestExitCodesHave32Bits(t *testing.T) {
	s := shells()["direct"]
	for code, want := range map[int]int{259: 259, -1: -1, -1073741819: -1073741819, 0x7fffffff: 0x7fffffff} {
		result, _ := run(t, s, played("exit:"+strconv.Itoa(code)))
		require.Equal(t, &want, result.ExitCode, result.Failure)
		require.Equal(t, Exit{Code: want}, startSession(t, s, Exec{Command: played("exit:" + strconv.Itoa(code))}).ended())
	}
	const ctrlC = uint32(windows.STATUS_CONTROL_C_EXIT)
	require.Equal(t, endStatus{signal: syscall.SIGINT}, statusOf(ctrlC, false, false))
	require.Equal(t, endStatus{signal: syscall.SIGTERM}, statusOf(ctrlC, true, false))
	require.Equal(t, endStatus{signal: syscall.SIGKILL}, statusOf(killedCode, true, true))
	require.Equal(t, endStatus{code: 3}, statusOf(3, true, true), "it ended before it was killed")
}

// entries splits an environment block.
func entries(block *uint16) (entries []string) {
	for *block != 0 {
		text := windows.UTF16PtrToString(block)
		entries = append(entries, text)
		length := len(utf16.Encode([]rune(text))) + 1
		block = (*uint16)(unsafe.Add(unsafe.Pointer(block), 2*length))
	}
	return entries
}

func TestEnvironmentBlockIsSortedAndHasEachNameOnce(t *testing.T) {
	block, err := environmentBlock([]string{"b=1", "Path=x", "A=é=2", "PATH=y", "=C:=C:\\d", "broken"})
	require.NoError(t, err)
	require.Equal(t, []string{"=C:=C:\\d", "A=é=2", "b=1", "PATH=y", "SystemRoot=" + os.Getenv("SystemRoot")}, entries(block))
	block, err = environmentBlock([]string{"SYSTEMROOT=here"})
	require.NoError(t, err)
	require.Equal(t, []string{"SYSTEMROOT=here"}, entries(block))
	_, err = environmentBlock([]string{"a=b\x00c"})
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestNamesOfVariablesIgnoreCase(t *testing.T) {
	base := BaseEnv([]string{"Path=old", "Named=1", "Term=xterm", "codex_home=x"}, "NAMED")
	policy := core.EnvironmentPolicy{Set: map[string]string{"PATH": "new"}}
	require.Equal(t, append([]string{"PATH=new"}, plainOutput...), environment(base, nil, policy))
	e := Exec{Env: map[string]*string{"PATH": nil}}
	require.Equal(t, plainOutput, e.environment(base, nil))
}

// TestNothingConfinesCommands: the server asks before a command that a sandbox policy would confine, and a
// command that should be confined is not run.
func TestNothingConfinesCommands(t *testing.T) {
	require.ErrorContains(t, Probe([]string{program(), "confine"}), "no sandbox")
	rules := toolspec.Rules{
		Policy:  protocol.AskForApproval{Mode: protocol.ApprovalOnRequest},
		Sandbox: protocol.SandboxWorkspaceWrite.Policy(), Enforced: Probe(nil) == nil,
	}
	require.Equal(t, toolspec.Ask, rules.Command(&toolspec.Command{}))
	rules.Policy.Mode = protocol.ApprovalNever
	require.Equal(t, toolspec.Refuse, rules.Command(&toolspec.Command{}))

	c := played("out:hello")
	c.Workspace, c.Sandbox = c.Cwd, protocol.SandboxReadOnly.Policy()
	s := &Shell{Env: os.Environ(), Confiner: []string{program(), "confine"}}
	result, _ := run(t, s, c)
	require.Contains(t, result.Failure, "no sandbox")
	c.Unconfined = true // the user has accepted it
	result, _ = run(t, s, c)
	require.Equal(t, "hello", result.Output)
}

// TestInterrupterAttachesToTheConsoleOfTheCommand. Wine then fails to send the event.
func TestInterrupterAttachesToTheConsoleOfTheCommand(t *testing.T) {
	k := startSession(t, shells()["direct"], Exec{Command: played("pid", "sleep")})
	k.until("\n")
	pid, _ := k.written()
	text, err := exec.Command(program(), "supervise", strings.TrimSpace(pid)).CombinedOutput()
	require.NotContains(t, string(text), "cannot attach")
	if cannotAsk() == "" {
		require.NoError(t, err, string(text))
	}
	text, err = exec.Command(program(), "supervise", "1").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "cannot attach to the console of process 1")
	require.ErrorContains(t, sendBreak(nil), "want a process id")
	require.ErrorContains(t, sendBreak([]string{"x"}), "invalid syntax")
}

// TestPatchesUseNoAliases: a protected folder would have other names.
func TestPatchesUseNoAliases(t *testing.T) {
	dir := t.TempDir()
	disk, err := osfile.OpenFolder(dir)
	require.NoError(t, err)
	defer disk.Close()
	r := &root{disk: folderDisk{disk}, dir: dir}
	for name, want := range map[string]string{
		"a/GIT~1/config": "short name", ".git::$INDEX_ALLOCATION/config": "stream", "a/f:s": "stream", ".Git/x": "in",
	} {
		_, err := r.resolve(name, true)
		require.ErrorContains(t, err, want, name)
	}
	_, err = r.resolve("a~b/.gitignore", true)
	require.NoError(t, err)
	require.True(t, inGit(`C:\a\.GIT\b`))
	require.Equal(t, `Q:\`, existing(`Q:\none\x`), "a volume that does not exist")
}
