package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShellsGetScriptsInTheirForm(t *testing.T) {
	for _, c := range []struct {
		shell, name string
		login       bool
		want        []string
	}{
		{"/bin/bash", "bash", true, []string{"-lc", "x y"}},
		{"fish", "fish", false, []string{"-c", "x y"}},
		{`C:\Program Files\PowerShell\7\pwsh.exe`, "pwsh", true, []string{"-NoProfile", "-Command", utf8Output + "x y"}},
		{`C:\Windows\PowerShell.EXE`, "powershell", false, []string{"-NoProfile", "-Command", utf8Output + "x y"}},
		{`cmd.exe`, "cmd", true, []string{"/c", "x y"}},
		{"C:/Git/bin/bash.exe", "bash", true, []string{"-lc", "x y"}},
		{".exe", ".exe", true, []string{"-lc", "x y"}},
	} {
		require.Equal(t, append([]string{c.shell}, c.want...), Invocation(c.shell, "x y", c.login))
		require.Equal(t, c.name, ShellName(c.shell))
	}
}

// TestOnlyScriptsOfBourneShellsAreSafe: the first two remove a file in PowerShell and in cmd.exe.
func TestOnlyScriptsOfBourneShellsAreSafe(t *testing.T) {
	for _, script := range []string{`echo "a\"; rm x; \""`, "echo 'a & del x'", "ls"} {
		require.True(t, ReadingFor("/bin/sh", "/", script) != MayWrite, script)
		require.False(t, ReadingFor("pwsh.exe", "/", script) != MayWrite, script)
		require.False(t, ReadingFor("cmd.exe", "/", script) != MayWrite, script)
	}
}

func TestForcedRemovalsOfWindowsAreDangerous(t *testing.T) {
	for script, want := range map[string][2]bool{ // in PowerShell, in cmd.exe
		"Remove-Item -Recurse -Force x": {true, false},
		"ls; ri x -fo":                  {true, false},
		"Remove-Item x; ls -Force":      {false, false},
		"Get-Item-Remove-Item -Force":   {false, false},
		"rm x -force":                   {true, true},
		"del /f x":                      {true, true},
		"cd a && del /q /f x":           {true, true},
		"DEL /s/f x":                    {true, true},
		"rd /s /q dir":                  {true, true},
		"rd dir":                        {false, false},
		"delete /f":                     {false, false},
		"rm -rf x":                      {true, true},
		"":                              {false, false},
	} {
		require.Equal(t, want[0], DangerousFor("pwsh", script), script)
		require.Equal(t, want[1], DangerousFor("cmd", script), script)
	}
	require.False(t, DangerousFor("/bin/sh", "del /f x"))
	require.True(t, DangerousFor("/bin/sh", "rm -rf x"))
}
