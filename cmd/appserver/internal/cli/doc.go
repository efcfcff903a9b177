// Package cli has the subcommands for people and scripts: context, rollout, thread, login and proxy. Each
// is a function of its arguments, the standard streams and the shared options.
//
// The commands of context and thread call the methods that clients call, on an engine in the same
// process. So they respect locks, and what they print is what clients see. The commands of rollout read
// and repair files without an engine, because a damaged file may not load.
//
// # Goroutines
//
// proxy has one, which copies the input to the socket. It blocks on both, and ends with the process: the
// input may never end.
package cli
