// Package cli has the subcommands for people and scripts: context, rollout, thread, web, login and proxy.
// Each is a function of its arguments, the standard streams and the shared options.
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
