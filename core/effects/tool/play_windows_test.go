package tool

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// terminate is the signal of Go for events that no test sends.
const terminate = syscall.SIGTERM

// nextLine ends a line on a terminal.
const nextLine = "\r"

// onWine reports whether the tests run on Wine instead of Windows.
func onWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// cannotAsk returns the reason why a command cannot be asked to end, or "".
func cannotAsk() string {
	if onWine() {
		return "Wine 8 sends no console events: GenerateConsoleCtrlEvent fails with ERROR_INVALID_HANDLE"
	}
	return ""
}

// cannotResize returns the reason why a terminal cannot be resized, or "".
func cannotResize() string {
	if onWine() {
		return "Wine 8 has no ResizePseudoConsole"
	}
	return ""
}

// playConsole reads a line from the console and prints it there. It opens the console by name, because
// Wine gives processes of a pseudo console no standard handles.
func playConsole() int {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return 8
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return 9
	}
	return converse(in, out)
}

// alive reports whether a process exists and has not ended.
func alive(pid int) bool {
	handle, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return false
	}
	defer windows.CloseHandle(handle)
	event, err := windows.WaitForSingleObject(handle, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}
