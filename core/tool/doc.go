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
// # The end of a command
//
// After the leader has exited, remaining processes have 100 ms to finish before they are killed. On
// cancellation and timeout, all processes get SIGTERM and, after KillGrace, SIGKILL until none
// lives. Run returns within KillGrace + 1.7 s of the cancellation, even if a process cannot be
// killed or output stays blocked.
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
//
// A [Link] has two more. One starts the program, waits for its end or for Close, and ends when no
// process of it is left. The other reads its standard error to the end. A supervisor process has a
// reaper, which blocks in wait and ends when it has no children; or, on other systems than Linux,
// waiters for the leader and for the end of the server.
//
// # Platforms
//
// A platform gives these functions; everything else is common:
//
//   - processes, processOf and marked read the process table and the mark (process_linux.go,
//     process_darwin.go).
//   - awaitExit waits for a child and leaves it a zombie, and getTermios is a number of the terminal
//     (platform_linux.go, platform_darwin.go).
//   - leaderAttributes, supervisorAttributes, tieSupervisor and [Supervise] end a command with its
//     server, and descriptors is a folder (supervise_native.go, supervise_portable.go).
//   - confine, [Confine] and [Probe] enforce [sandbox.Rules] (confine_native.go,
//     confine_portable.go).
//
// The native files are for Linux: subreaper, parent-death signal, namespaces. The portable ones are
// for macOS, and with the build tag posix for Linux, where the tests run. A platform without
// sessions and signals, such as Windows, also replaces the signals of processTree and running, the
// terminal (openTerminal, resizeTerminal, isTerminal), setCloseOnExec, checkDirectory, lookPath and
// the wait status. unsupported.go has the exported functions for all other systems.
//
// # Decisions
//
// A daemon is not found in the process table if it leaves the session, outlives its parent and
// overwrites its environment. A supervisor ([Supervise], [Shell].Supervisor) closes this gap on
// Linux. It is a small process between the server and the command, and the subreaper of all
// processes of the command. It also ends the command when the server is killed.
//
// Other systems have no subreaper, so the gap stays. There the supervisor reads a pipe, which ends
// with the server, and looks for processes as the server does. MacOS shows no environment of
// programs that belong to it, so their mark is not found either. Under the tag posix, the table is
// still /proc: a program such as ps would be slower than the calls of macOS, and would miss more.
//
// The server is no subreaper itself. It could not distinguish orphans of a command from children
// that other parts of it wait for. A zombie that is never reaped looks alive to a script that waits
// for its end.
package tool
