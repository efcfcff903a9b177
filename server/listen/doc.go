// Package listen accepts clients on a Unix socket or on a TCP port. [Dial] is the other side of such a
// connection.
//
// # Wire
//
// Both transports use WebSocket (RFC 6455), at any path. Each text message is one JSON-RPC
// message or one batch. Binary messages, and messages above 64 MiB, are rejected with an error
// response. The server sends one text message per JSON-RPC message. Messages above 16 MiB are
// split into frames of that size. Clients of the reference implementation accept no larger
// frames. Compression is off.
//
// GET /healthz returns 200 without a token, and GET /readyz as well, unless the server is not ready: then 503.
//
// # Access
//
// The Unix socket has mode 0600, so only its owner can connect. The port requires a
// bearer token, because every user and program of the machine can connect, and on other addresses
// than loopback every machine. It has no TLS. It rejects every request with an Origin header, because only web pages in
// browsers send one.
//
// A port with Options.Admit leaves these checks to that function. Package server/web serves a
// page to browsers in this way. Package server/peer listens on other addresses, and dials.
//
// # Memory
//
// The unfinished messages of all clients take at most 256 MiB, and 64 KiB more for each client. See [Intake]. At most
// 1,024 clients are connected. Of connections that are no clients yet there are at most 128; the oldest is closed for
// a new one.
//
// # Slow clients
//
// A client that reads nothing for 10 seconds while output is pending is disconnected. Threads
// wait for slow subscribers, so other clients of these threads wait as well. The client can
// connect again and resume its threads.
//
// # Goroutines
//
// The caller of [Listener.Serve] accepts connections. net/http starts one goroutine for each
// connection, which runs Options.Serve. It ends when the client disconnects or when
// Options.Serve returns. [Listener.Wait] waits for all of them. A connection with a limit of silence
// has one more goroutine, which sends heartbeats. It can block for the write timeout, and ends before
// the connection is closed. A connection that loses its share of the intake is closed by a goroutine that takes at most
// 250 ms.
package listen
