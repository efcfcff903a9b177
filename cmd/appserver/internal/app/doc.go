// Package app assembles the server and runs it. It imports every concrete type: models, tools, the store,
// the index, the memory, MCP servers, and the connection to clients.
//
// [Serve] is the server. [ServePage] serves browsers only. [OpenLocalClient] is a client of an engine in the
// same process, without a provider, for the subcommands that read and edit stored threads. [Options] are
// the flags that subcommands share.
//
// # Goroutines
//
// The caller of Serve waits for a reason to stop, and then shuts the server down. One goroutine for each
// transport serves the connection, or accepts connections. It ends when the connection is drained or the
// listener is stopped.
// Another goroutine waits for signals, and another for the exit of the parent process. Both end with Serve.
// One goroutine probes whether the kernel confines commands. It ends with the process of the probe, or after 5 s.
// At the shutdown, a goroutine closes the memory.
//
// # Decisions
//
// Shutdown takes at most 2.5 seconds. It reaches this limit only if a client does not read, an effect
// ignores its cancellation, or a rollout of some hundred megabytes is rewritten. An interrupted rewrite
// leaves the files unchanged.
package app
