package tool

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// jobList is PROC_THREAD_ATTRIBUTE_JOB_LIST of winbase.h.
const jobList = 0x0002000D

// startProcess starts the command in its job, and returns a handle of the process. The process inherits
// no other handles than its standard ones, and has a console of its own: a pseudo console, or one without
// a window.
func (p *running) startProcess() (windows.Handle, error) {
	start, err := p.startArguments()
	if err != nil {
		return 0, err
	}
	attributes, err := windows.NewProcThreadAttributeList(2)
	if err != nil {
		return 0, err
	}
	defer attributes.Delete()
	if err := attributes.Update(jobList, unsafe.Pointer(&p.job), unsafe.Sizeof(p.job)); err != nil {
		return 0, err
	}
	// Without handles in this field, a process with a pseudo console would get those of this process.
	info := windows.StartupInfoEx{ProcThreadAttributeList: attributes.List()}
	info.Cb, info.Flags = uint32(unsafe.Sizeof(info)), windows.STARTF_USESTDHANDLES
	flags := uint32(windows.EXTENDED_STARTUPINFO_PRESENT | windows.CREATE_UNICODE_ENVIRONMENT)
	var files standardFiles
	if p.console != nil {
		err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, p.console.attribute(),
			unsafe.Sizeof(p.console.handle))
	} else {
		flags |= windows.CREATE_NO_WINDOW
		if files, err = inheritable(p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr); err == nil {
			defer files.close()
			info.StdInput, info.StdOutput, info.StdErr = files[0], files[1], files[2]
			err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&files), unsafe.Sizeof(files))
		}
	}
	if err != nil {
		return 0, err
	}
	var made windows.ProcessInformation
	err = windows.CreateProcess(start.program, start.line, nil, nil, p.console == nil, flags, start.env, start.dir,
		&info.StartupInfo, &made)
	runtime.KeepAlive(p)
	if err != nil {
		return 0, err
	}
	windows.CloseHandle(made.Thread)
	return made.Process, nil
}

// standardFiles are handles that a process inherits.
type standardFiles [3]windows.Handle

// inheritable returns copies of files that a process can inherit. A missing file is empty, and drops
// what is written to it.
func inheritable(files ...any) (copies standardFiles, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return copies, err
	}
	defer null.Close()
	self := windows.CurrentProcess()
	for i, given := range files {
		file, ok := given.(*os.File)
		if !ok || file == nil {
			file = null
		}
		err := windows.DuplicateHandle(self, windows.Handle(file.Fd()), self, &copies[i], 0, true,
			windows.DUPLICATE_SAME_ACCESS)
		if err != nil {
			copies.close()
			return copies, err
		}
	}
	return copies, nil
}

func (f *standardFiles) close() {
	for _, handle := range f {
		if handle != 0 {
			windows.CloseHandle(handle)
		}
	}
}

// startArguments are texts in the form of CreateProcess.
type startArguments struct{ program, line, env, dir *uint16 }

func (p *running) startArguments() (a startArguments, err error) {
	program, line, err := commandLine(p.cmd.Path, p.cmd.Args)
	if err != nil {
		return a, err
	}
	if a.program, err = windows.UTF16PtrFromString(program); err != nil {
		return a, err
	}
	if a.line, err = windows.UTF16PtrFromString(line); err != nil {
		return a, err
	}
	if p.cmd.Dir != "" {
		if a.dir, err = windows.UTF16PtrFromString(filepath.FromSlash(p.cmd.Dir)); err != nil {
			return a, err
		}
	}
	a.env, err = environmentBlock(p.cmd.Env)
	return a, err
}

// environmentBlock encodes an environment. The last value of a variable counts. SystemRoot is added,
// because programs do not start without it.
func environmentBlock(env []string) (*uint16, error) {
	var kept, names []string
	for _, entry := range slices.Backward(append([]string{"SystemRoot=" + os.Getenv("SystemRoot")}, env...)) {
		name, _, found := strings.Cut(strings.TrimPrefix(entry, "="), "=") // "=C:" has the folder of drive C
		if found && !named(names, name) {
			names, kept = append(names, name), append(kept, entry)
		}
	}
	slices.SortFunc(kept, func(a, b string) int { return strings.Compare(strings.ToUpper(a), strings.ToUpper(b)) })
	var block []uint16
	for _, entry := range kept {
		encoded, err := windows.UTF16FromString(entry)
		if err != nil {
			return nil, err
		}
		block = append(block, encoded...)
	}
	block = append(block, 0)
	return &block[0], nil
}
