// Package mcp is connected to MCP servers: programs of people's own choice, and services
// that are reached by HTTP, with tools for the model.
//
// A [Pool] has the connections of owners, of which it knows the names only. Each owner has
// connections of its own, since servers keep state in them, and since what a server asks
// the user during a call has to reach the owner of the call.
//
// # Life of a connection
//
// A server is connected to when its owner is opened, and nobody waits for that: whoever
// wants its tools gets those of the servers that are ready, or awaits the others for a
// moment. A connection that fails, or is lost, is made again after 1 second, and then
// after twice the time, up to 5 minutes; one that had held for 30 seconds begins anew. Calls
// that were under way fail. Where an owner is closed, its programs end, with all that they
// started.
//
// # What is not believed
//
// A server may write what it likes: lines on its output that are no messages are dropped,
// lines of more than 16 MiB end the connection, results are cut to 1 MiB, of lists
// at most 10,000 entries and 16 MiB are read, and what it writes to standard error goes to the log in
// short lines. A call ends after its timeout, not counting the time that the user takes to
// answer a question of the server. While 64 requests of a program are open, or 64 answers to a
// service are under way, it is read no further; the user is asked 64 questions at a time. Progress
// that its caller does not take is dropped after 64 messages. A program that has not read all of a message a second after
// the call that it is of has ended loses the connection.
//
// # Goroutines
//
// Each connection has one that makes it, again and again, and waits for its end; it
// ends when its owner is closed. Each call whose caller listens has one that hands on its progress,
// and ends with the call. One more waits in the library for the end of a session,
// and ends with that. A closed owner's connections are waited for by [Pool.Close] alone.
package mcp
