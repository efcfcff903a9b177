// Package cli has the commands of the program. [Program] is the table of all: a row has the name, the documentation,
// the arguments and the flags of a command, and the function that runs it. Package cmdline parses command lines by
// the table, and makes the help, the completion, the manual page and the reference of docs/cli.md of it. A new
// command is a method of commands that returns its row, and a line in Program.
//
// The commands of context and thread call the methods of the protocol on an engine in the same process.
// So they respect locks and print the same state that clients receive. The commands of rollout read and
// repair files without an engine, because a damaged file may not load.
//
// # Goroutines
//
// proxy starts one goroutine, which copies the input to the socket. It ends with the process, because the
// input may never end. web starts one goroutine, which waits for the program that opens a browser. It ends
// with that program or with the process. login starts one for the browser in the same way, and one that reads a key
// from the terminal. The latter ends with the line, or with the process after a signal.
package cli
