package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// commandLine returns the program and the command line for an argument vector. Programs split the line
// themselves: most by the rules of Microsoft's C library, but cmd.exe by its own.
func commandLine(program string, argv []string) (run, line string, err error) {
	switch strings.ToLower(filepath.Ext(program)) {
	case ".bat", ".cmd":
		return batchLine(program, argv[1:])
	}
	if strings.EqualFold(filepath.Base(program), "cmd.exe") {
		if line, ok := cmdLine(argv); ok {
			return program, line, nil
		}
	}
	return program, windows.ComposeCommandLine(argv), nil
}

// cmdLine returns the command line of cmd.exe with a command. A command in one argument is passed on
// unchanged, as a script. /s makes cmd.exe remove the outer quotes and no others.
func cmdLine(argv []string) (line string, ok bool) {
	for i, flag := range argv[1:] {
		if !strings.EqualFold(flag, "/c") && !strings.EqualFold(flag, "/k") {
			continue
		}
		before, command := argv[:i+1], argv[i+2:]
		text := strings.Join(command, "")
		if len(command) != 1 {
			text = windows.ComposeCommandLine(command)
		}
		return windows.ComposeCommandLine(before) + " /s " + flag + ` "` + text + `"`, true
	}
	return "", false
}

// batchLine returns the command line of a batch file, which cmd.exe runs. Every argument is in quotes, so
// that cmd.exe finds no operator in it. A quote is doubled, and a percent sign is followed by an expansion
// to nothing, so that no variable is expanded.
func batchLine(file string, args []string) (program, line string, err error) {
	var text strings.Builder
	quoter := strings.NewReplacer(`"`, `""`, "%", "%%cd:~,%")
	for i, arg := range append([]string{file}, args...) {
		if strings.ContainsAny(arg, "\r\n") {
			return "", "", errors.New("an argument of a batch file holds a line break")
		}
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteByte('"')
		text.WriteString(quoter.Replace(arg))
		if rest := strings.TrimRight(arg, `\`); i > 0 {
			text.WriteString(arg[len(rest):]) // a program that gets the argument would read \" as a quote
		}
		text.WriteByte('"')
	}
	program = filepath.Join(systemFolder(), "cmd.exe")
	return program, windows.EscapeArg(program) + ` /d /e:ON /v:OFF /s /c "` + text.String() + `"`, nil
}

// systemFolder returns the folder of the system's programs.
func systemFolder() string { return filepath.Join(os.Getenv("SystemRoot"), "System32") }
