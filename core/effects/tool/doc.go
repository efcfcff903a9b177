// Package tool runs commands as processes, and streams their output. When a run ends, no process of
// the command is left. [Shell.Run] runs commands of the model, [Shell.Exec] runs commands of
// clients. [Shell.Connect] runs a program and connects its standard input and output. [Patcher]
// writes the files of a patch, all or none.
//
// # Order
//
// [Shell.Run] calls started, then output, each from one goroutine, and never two at a time. Output
// that a command wrote before it ended is passed on before Run returns. The one exception is a call
// that still blocks after a cancellation or a timeout: Run returns without it, and makes no further
// call.
//
// # Pressure
//
// If output blocks, reading stops, and the command blocks in its next write. The limits of [Shell]
// bound the memory for any output.
//
// # Processes of a command
//
// A command is the leader of its own session. It has no terminal unless it asks for one, no
// descriptors except the standard three, and a mark in its environment. Its processes are found in
// the process table: the leader, the children, group and session of each process, and each process
// with the mark. The leader stays a zombie until the rest has ended, so that its process id is not
// reused.
//
// On Windows a command runs in a job of its own, to which the kernel adds all that its processes
// start. It has a console without a window, or a pseudo console if it asks for a terminal, and
// inherits no handles except the standard three.
//
// # The end of a command
//
// After the leader has exited, remaining processes have 100 ms to finish before they are killed. On
// cancellation and timeout, all processes get SIGTERM and, after KillGrace, SIGKILL until none
// lives. Run returns within KillGrace + 1.7 s of the cancellation, even if a process cannot be
// killed or output stays blocked.
//
// On Windows, all processes of the console get CTRL_BREAK instead of SIGTERM. A process of the
// server's program sends it, since only processes of a console can do so. After KillGrace the job
// is terminated. It also ends when its last handle is closed, so at the latest with the server.
//
// # Goroutines
//
// Each run has two goroutines, or three on a terminal:
//
//   - The pump calls started, reads the pipe and calls output, and may block in these three. It ends
//     at the end of the pipe, or when the run is over and its current call returns.
//   - typeKeys waits for input to type, or up to a second for a program to read it. It ends with the
//     pump.
//   - The waiter blocks until the leader has exited, and then ends.
//   - On Windows, another one closes the terminal. It ends when the rest of the output was read, or with
//     the pump.
//
// A [Link] has two more. One starts the program, waits for its end or for Close, and ends when no
// process of it is left. The other reads its standard error to the end. A supervisor process has a
// reaper, which blocks in wait and ends when it has no children, and one for each signal if its thread is restricted;
// or, on other systems than Linux,
// waiters for the leader and for the end of the server.
//
// # Platforms
//
// A platform gives these functions; everything else is common:
//
//   - processSet has the processes of a command. mark and lead prepare its start, spawn starts it,
//     terminate asks all of them to end, reap kills them, and endStatus returns how the command ended
//     (running_posix.go, running_windows.go).
//   - openTerminal, resize, typed and endOfInput are the terminal (terminal_posix.go,
//     terminal_windows.go).
//   - outputPipe and inputPipe make pipes with deadlines, and source reads the output; lookPath finds
//     programs, and startAdvice explains errors (start_posix.go, start_windows.go).
//   - coreNames, sameName and isAlias know names (environ_posix.go, environ_windows.go).
//   - confine, [Confine] and [Probe] enforce [sandbox.Rules] (confine_native.go,
//     confine_portable.go). On Windows nothing does, so Probe fails, and the policy asks before a
//     command that should be confined (supervise_windows.go).
//   - [Supervise] is called by the program of [Shell].Supervisor. On Windows it sends CTRL_BREAK
//     (supervise_windows.go).
//
// Linux and macOS share the files named posix and the process tree. They differ in these functions:
//
//   - processes, processOf and marked read the process table and the mark (process_linux.go,
//     process_darwin.go).
//   - awaitExit waits for a child and leaves it a zombie, and getTermios is a number of the terminal
//     (platform_linux.go, platform_darwin.go).
//   - leaderAttributes, supervisorAttributes, tieSupervisor and Supervise end a command with its
//     server, and descriptors is a folder (supervise_native.go, supervise_portable.go).
//
// The native files are for Linux: subreaper, parent-death signal, namespaces. The portable ones are
// for macOS, and with the build tag posix for Linux, where the tests run. Windows has job_windows.go,
// process_windows.go and commandline_windows.go besides. Other systems are not supported.
//
// # Decisions
//
// A daemon is not found in the process table if it leaves the session, outlives its parent and
// overwrites its environment. A supervisor ([Supervise], [Shell].Supervisor) closes this gap on
// Linux. It is a small process between the server and the command, and the subreaper of all
// processes of the command. It also ends the command when the server is killed.
//
// MacOS has no subreaper, so the gap stays. There the supervisor reads a pipe, which ends
// with the server, and looks for processes as the server does. MacOS shows no environment of
// programs that belong to it, so their mark is not found either. Under the tag posix, the table is
// still /proc: a program such as ps would be slower than the calls of macOS, and would miss more.
//
// The server is no subreaper itself. It could not distinguish orphans of a command from children
// that other parts of it wait for. A zombie that is never reaped looks alive to a script that waits
// for its end.
//
// On Windows every process is in the job from its first instruction, by an attribute of its start. A
// start with os/exec would add it later, when it may have children. Commands could share the console
// of the server, so that the server itself could send CTRL_BREAK. But then they could read what is
// typed there, and a server without a console would open a window for each command.
package tool
