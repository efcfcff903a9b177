// Package mcp connects to MCP servers, which offer tools to the model: programs of the user's
// choice, and services over HTTP.
//
// A [Pool] holds the connections of owners, and knows only the names of the owners. Each owner has
// its own connections, for two reasons: servers keep state in a connection, and a question of a
// server during a call must reach the owner of the call. [Pool.Open] connects an owner,
// [Pool.Await] lists its tools, and [Pool.Call] calls one.
//
// # Life of a connection
//
// Open starts the connections of an owner and does not wait. [Pool.Tools] returns the tools of the
// servers that are ready; Await waits a moment for the others. A connection that fails or is lost
// is retried after 1 second, and then after twice the previous delay, up to 5 minutes. The delay is
// reset when a connection has held for 30 seconds. When an owner disconnects,
// its programs end, with all processes that they started.
//
// # Failed requests
//
// A request is repeated once if the server refused its session, or if it did not leave this program. If it was sent and
// has no response, it is repeated only if the tool declares that it only reads. Otherwise the error states that it is
// unknown whether the tool ran. A refused session is followed by another one at once, without a report.
//
// # Limits
//
// Servers are not trusted to follow the protocol:
//
//   - Output lines that are not messages are dropped. A line above 16 MiB ends the connection.
//   - Results are truncated to 1 MiB. They may have any blocks and any base64; the library does not decode them. At
//     most 16 files are made of the bytes of one result. Of lists, at most 10,000 entries and 16 MiB are read.
//   - Of instructions, 64 KiB of the first connection are kept. Package toolspec quotes and shortens them.
//   - Standard error goes to the log in short lines.
//   - The list of tools is read at most twice a second. A call waits at most 2 seconds for a list that changed before
//     its result.
//   - A call ends after its timeout. The time in which the user answers a question does not count.
//   - While 64 requests of a program are open, or 64 answers to a service are in flight, the server
//     is not read. The user gets at most 64 questions at a time.
//   - Progress is dropped if 64 messages wait for the caller.
//   - If a program has not read a whole message one second after its call ended, the connection
//     ends.
//
// # Logins
//
// A service without a token in its definition gets the one of a login ([Logins]). A service that requires a login fails
// with a [LoginError]. Redirects of a service to other hosts are not followed, because requests have secrets.
//
// # Goroutines
//
// Each connection has one goroutine that connects, retries and waits for its end; it ends when the
// owner disconnects. Each call with progress has one that passes it on, and ends with the call. The
// library has one that waits for the end of a session, and ends with it. [Pool.Close] waits for the
// connections of disconnected owners.
package mcp
