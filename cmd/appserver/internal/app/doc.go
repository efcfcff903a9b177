// Package app puts the server together from its parts and runs it. It knows every concrete type: models,
// tools, the store, the index, the memory, MCP servers, and the connection to clients.
//
// [Serve] is the server. [OpenLocalClient] is a client of an engine in the same process, without a
// provider, for the subcommands that read and edit stored threads. [Options] are the flags that
// subcommands share.
//
// # Goroutines
//
// The caller of Serve waits for a reason to end, and then ends the server in order. One goroutine serves
// the connection, or accepts connections. It ends when they are drained, or not accepted any more. One
// waits for signals and one for the end of the parent process. Both end with Serve. At the end one closes
// the memory.
//
// # Decisions
//
// Shutdown takes at most 2.5 seconds. Only a client that does not read, an effect that ignores its
// cancellation, or a rewrite of some hundred megabytes needs as long. A rewrite that is cut off leaves
// its files as they were.
package app
