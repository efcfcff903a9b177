// Package share connects a client on standard input and output with a server that several clients share. If no such
// server runs, it starts one, which ends when its last client has left.
//
// Clients share a server if they have the same home, build, flags and name. Its socket is in the home, below a name
// that is the digest of them. The socket has a lock, so that of two servers that start at once one serves both clients.
//
// # Goroutines
//
// One waits for the end of a server that this process has started. It ends with the server or the process.
package share
