// Package listen accepts clients where the server is not the child of one: on a Unix
// socket, and on a TCP port of this machine.
//
// # Wire
//
// Both speak WebSocket (RFC 6455), at any path. A text message is one JSON-RPC message, or
// a batch; binary messages and those of more than 64 MiB are refused like lines that
// cannot be read. What the server says is one text message each, in one frame up to 16 MiB
// and in several above, which is what clients of the reference implementation take. There
// is no compression. GET /readyz and /healthz answer 200 to everybody on the machine.
//
// # Who may come in
//
// The socket has mode 0600: the system keeps everybody else out. The port takes a bearer
// token, always, since every user and every program of the machine reaches it, and refuses
// all requests with an Origin: browsers send one with whatever any page opens, and no
// other client has a reason to. It is bound to loopback addresses only.
//
// # A client's end
//
// A client that takes nothing for ten seconds, though there is something to take, is
// disconnected: the threads that it follows wait for it that long, and other clients with
// them. It can come back, and resume.
//
// # Goroutines
//
// One accepts: that of the caller of [Listener.Serve]. net/http starts one for each
// connection, which runs Options.Serve: it ends when the client leaves, or when Serve
// returns. [Listener.Wait] waits for them.
package listen
