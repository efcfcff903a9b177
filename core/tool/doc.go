// Package tool runs commands: real processes, whose output is passed on as it
// comes, and of which nothing is left when a run ends. And it writes the files of
// patches ([Patcher]), all of a patch or none.
//
// # Order
//
// [Shell.Run] calls started, then output, each from one goroutine, never two at a
// time. Output that a command wrote before it ended is passed on before Run returns.
// Only a call that blocks after a cancellation or a timeout is left behind; when it
// returns there is no other.
//
// # Pressure
//
// A blocked output stops the reading, so that the command blocks in its next write.
// Memory is bounded by the limits of [Shell], whatever the command writes.
//
// # What belongs to a command
//
// A command is started as leader of its own session, without a terminal unless it asks for
// one of its own, without descriptors other than its standard three, with a mark in its environment. What
// belongs to it is found in /proc: the leader, the children, group and session of
// everything that belongs to it, and everything that carries the mark. The leader
// stays a zombie until the rest is gone, so that its number means nothing else.
//
// A daemon gets away from that if it leaves the session, outlives its parent and
// overwrites its environment. A supervisor ([Supervise], [Shell].Supervisor) closes
// this gap: a small process between the server and the command that is the
// subreaper of all that the command leaves behind, so that everything stays in the
// tree below it. It also ends the command when the server is killed. The server is
// no subreaper itself: it could not tell a command's orphans from children that
// other parts of it wait for, and a zombie that nobody reaps looks alive to the
// script that is waiting for its end.
//
// # The end of a command
//
// When the leader has exited, what it left behind has 100 ms to finish and is then
// killed. On cancellation and timeout everything that belongs to the command gets
// SIGTERM and, after KillGrace, SIGKILL until nothing of it lives. Run returns
// within KillGrace + 1.7 s of the cancellation, also where a process cannot be
// killed or output stays blocked.
//
// # Goroutines
//
// Each run has two, on a terminal three. The pump calls started, reads the pipe and calls output; it may
// block in these three and ends at the end of the pipe, or when the run is over and
// its current call returns. The typist waits for what is to be typed, or a second for a
// program to read it, and ends with the pump. The waiter blocks until the leader has exited, and ends
// then. A supervisor process has a reaper, which blocks in wait and ends when there
// are no children left.
package tool
