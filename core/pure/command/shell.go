package command

import (
	"regexp"
	"slices"
	"strings"

	"appserver/platform/pattern"
)

// ShellName returns the name of a shell by its path: bash for /bin/bash, and pwsh for C:\bin\pwsh.exe.
func ShellName(shell string) string {
	name := shell[strings.LastIndexAny(shell, `/\`)+1:]
	if end := len(name) - len(".exe"); end > 0 && strings.EqualFold(name[end:], ".exe") {
		return strings.ToLower(name[:end])
	}
	return name
}

// shellKind is the language of a shell.
type shellKind int

const (
	bourne shellKind = iota
	powerShell
	cmdShell
)

// kindOf returns the language of a shell. Unknown shells get the arguments of a Bourne shell.
func kindOf(shell string) shellKind {
	switch ShellName(shell) {
	case "powershell", "pwsh":
		return powerShell
	case "cmd":
		return cmdShell
	}
	return bourne
}

// utf8Output makes PowerShell write its output in UTF-8 instead of the code page of the console.
const utf8Output = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; "

// Invocation returns the argument vector with which a shell runs a script. A login shell reads the user's
// profile, but PowerShell never does: its profile prints, and takes seconds.
func Invocation(shell, script string, login bool) []string {
	switch kind := kindOf(shell); {
	case kind == powerShell:
		return []string{shell, "-NoProfile", "-Command", utf8Output + script}
	case kind == cmdShell:
		return []string{shell, "/c", script}
	case login:
		return []string{shell, "-lc", script}
	}
	return []string{shell, "-c", script}
}

// ReadingFor does the same as ReadingIn, for a script of a shell. It returns MayWrite unless the
// shell is known to read the words that count as plain here as bash does. csh, nushell and
// PowerShell, for example, read quotes and names in other ways.
func ReadingFor(shell, dir, script string) Reading {
	if !slices.Contains(alike, ShellName(shell)) {
		return MayWrite
	}
	return ReadingIn(dir, script)
}

// alike are the shells that read plain words alike. FuzzSafe and the tests of words cover what they differ in.
var alike = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish"}

// DangerousFor reports the same as Dangerous, for a script of a shell.
func DangerousFor(shell, script string) bool {
	forced := func(e func() *regexp.Regexp) bool { return e().MatchString(script) }
	return Dangerous(script) || slices.ContainsFunc(forcedRemovals[kindOf(shell)], forced)
}

// forcedRemovals match calls that remove files by force in shells whose scripts are not parsed.
var forcedRemovals = map[shellKind][]func() *regexp.Regexp{
	powerShell: {
		pattern.New(`(?i)(^|[^\w-])(remove-item|ri|rm|del|erase|rd|rmdir)\s([^;|\n]*\s)?-fo?r?c?e?\b`), cmdRemoval,
	},
	cmdShell: {cmdRemoval},
}

// cmdRemoval matches del /f and rd /s, which remove files without a question.
var cmdRemoval = pattern.New(`(?i)\b((del|erase)\s([^&|\n]*\s)?/(\w/)*f|(rd|rmdir)\s([^&|\n]*\s)?/(\w/)*s)\b`)

// WithoutLogin returns an argument vector of [Invocation] whose shell reads no profile.
func WithoutLogin(argv []string) []string {
	if len(argv) != 3 || argv[1] != "-lc" {
		return argv
	}
	return []string{argv[0], "-c", argv[2]}
}
