package tool

import (
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// pipeSize is the size of a pipe's buffer, in bytes.
const pipeSize = 64 << 10

// outputPipe returns a pipe that a command writes to, and inputPipe one that it reads from. Theirs is
// the end of the command, and is blocking; ours has deadlines.
func outputPipe() (ours, theirs *os.File, err error) {
	return pipe(windows.PIPE_ACCESS_INBOUND, windows.GENERIC_WRITE|windows.FILE_READ_ATTRIBUTES)
}

func inputPipe() (ours, theirs *os.File, err error) {
	return pipe(windows.PIPE_ACCESS_OUTBOUND, windows.GENERIC_READ|windows.FILE_WRITE_ATTRIBUTES)
}

// pipe makes a pipe with a name, because the ends of one without a name have no deadlines. Nobody else
// can connect to it: it has one instance, and it is connected here.
func pipe(access, theirAccess uint32) (ours, theirs *os.File, err error) {
	name := `\\.\pipe\appserver-` + rand.Text()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, nil, err
	}
	server, err := windows.CreateNamedPipe(path, access|windows.FILE_FLAG_OVERLAPPED|windows.FILE_FLAG_FIRST_PIPE_INSTANCE,
		windows.PIPE_TYPE_BYTE|windows.PIPE_REJECT_REMOTE_CLIENTS, 1, pipeSize, pipeSize, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	client, err := windows.CreateFile(path, theirAccess, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		windows.CloseHandle(server)
		return nil, nil, err
	}
	return os.NewFile(uintptr(server), name), os.NewFile(uintptr(client), name), nil
}

// checkEnter checks that a command can run in a folder. Only an attempt shows it.
func checkEnter(string) error { return nil }

// lookPath finds a program: one without a folder by the PATH in env, one with a folder from dir. It
// skips relative entries of PATH, because the program would depend on the working directory. An
// extension of PATHEXT can be missing.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsAny(name, `\/:`) {
		path := name
		switch {
		case filepath.IsAbs(path):
		case strings.ContainsAny(path[:1], `\/`):
			path = filepath.VolumeName(dir) + path
		case filepath.VolumeName(path) == "":
			path = filepath.Join(dir, path)
		}
		if program, err := exec.LookPath(path); err == nil {
			return program, nil
		}
		return path, nil
	}
	path := systemFolder() + ";" + os.Getenv("SystemRoot")
	for _, entry := range env {
		if key, value, _ := strings.Cut(entry, "="); sameName(key, "PATH") {
			path = value
		}
	}
	for _, folder := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(folder, name)); err == nil && filepath.IsAbs(folder) {
			return program, nil
		}
	}
	return "", notFound(name, path)
}

var startAdvice = []advice{
	{windows.ERROR_FILE_NOT_FOUND, "check that it exists"},
	{windows.ERROR_PATH_NOT_FOUND, "check that it exists"},
	{windows.ERROR_ACCESS_DENIED, "check that it is a program that you may run"},
	{windows.ERROR_BAD_EXE_FORMAT, "it is no program for this machine"},
	{windows.ERROR_EXE_MACHINE_TYPE_MISMATCH, "it is no program for this machine"},
	{windows.ERROR_FILENAME_EXCED_RANGE, "pass fewer or shorter arguments, for example in a file"},
	{windows.ERROR_ELEVATION_REQUIRED, "it needs the rights of an administrator, which the server does not have"},
	{syscall.EINVAL, "an argument or a variable holds a NUL byte"},
}
