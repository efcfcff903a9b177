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
// /proc: the leader, the children, group and session of each process, and each process with the
// mark. The leader stays a zombie until the rest has ended, so that its process id is not reused.
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
// reaper, which blocks in wait and ends when it has no children.
//
// # Decisions
//
// A daemon is not found in /proc if it leaves the session, outlives its parent and overwrites its
// environment. A supervisor ([Supervise], [Shell].Supervisor) closes this gap. It is a small process
// between the server and the command, and the subreaper of all processes of the command. It
// also ends the command when the server is killed.
//
// The server is no subreaper itself. It could not distinguish orphans of a command from children
// that other parts of it wait for. A zombie that is never reaped looks alive to a script that waits
// for its end.
package tool
