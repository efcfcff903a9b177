// Package server implements the connections of the app-server protocol. It reads messages of
// clients and dispatches requests to the handlers of the method table. It writes responses,
// notifications and server requests in order.
//
// # Framing
//
// [Server.Serve] exchanges one JSON message per line, in UTF-8. A line ends with LF or CRLF;
// the last line may lack the end. A byte order mark at the start and blank lines are skipped.
// A line has at most 64 MiB without its end; a longer one is skipped and rejected.
// [Server.ServeTransport] exchanges the same messages over a transport with its own framing.
//
// The member jsonrpc is optional in input and always present in output. Invalid UTF-8 within a
// string is read as U+FFFD. An id with invalid UTF-8 is rejected.
//
// # Responses
//
// Each request gets exactly one response. It repeats the id byte for byte. The response to an
// invalid line, or to an id that is neither string nor number, has the id null. A batch gets
// one line with all its responses after the last of them is ready. A batch without requests
// gets no response. Every error has data.kind. No message ends a connection.
//
// Responses of the client with an unknown id are logged and dropped, and open server requests
// are sent again. Notifications of the client have no effect.
//
// # Limits
//
//	1,024 pending requests    per connection; further ones get the error overloaded
//	32 MiB of unread output   further requests get the error overloaded
//	64 MiB of unread output   the server stops reading from the client
//	64 MiB of batched output  responses in batches are replaced by an error
//	65,536 messages           per batch
//	256 MiB of params         pending from all clients of sockets; above, a request gets the error
//	                          overloaded if its connection has more than 1 MiB pending
//
// Urgent methods have 64 more pending requests, and are accepted from clients with unread
// output. [Server.Behind] reports unread output above 32 MiB to code that serves requests
// later.
//
// # Order
//
// For each connection, handlers run one at a time on the reader goroutine, in the order of
// arrival. They must not block. Output leaves in the order of the calls to [Server.Reply],
// [Server.Refuse], [Server.Notify] and [Server.Ask], with two exceptions:
//
//   - The responses of a batch leave together with the last of them.
//   - A delta is merged into a queued delta of the same text, unless an item started
//     or completed between them. No other message is merged, and none is dropped.
//
// Values passed to these methods are encoded later by another goroutine. The caller must not
// change them. A response with a [protocol.StoredItem] is written in parts while its items are
// read, so that its length takes no memory. A list of context items is written in parts while it
// is encoded.
//
// # Backpressure
//
// The outbox has no limit of its own. [Server.Congested] returns a channel for producers of
// notifications to wait on. It is not nil while more than 8 MiB are queued, and until fewer
// than 4 MiB are left.
//
// # Disconnects
//
// A connection of [Server.ServeTransport] ends when its input or output ends. Other
// connections continue, so [Server.EOF] is not closed. [Service.Left] is called after the
// connection is removed. Later responses to that connection are dropped.
//
// # Shutdown
//
// EOF on the input, or a failed write, does not stop the server, because pending responses may
// still be due. The program calls these methods in order, each wait with a deadline:
//
//	<-s.EOF()      // or a signal
//	s.StopIntake() // rejects new requests with kind shuttingDown
//	s.Quiesce(ctx) // waits for the responses to accepted requests
//	...            // the engine finishes turns and sends notifications
//	s.Drain(ctx)   // waits until all output is written; Serve returns
//
// A client that does not read delays Drain only until its deadline. The writer goroutine may
// then stay blocked, because a write to an inherited pipe cannot be interrupted.
//
// # Goroutines
//
//   - Reader, one per connection, started by jsonrpc2: reads messages and runs handlers.
//     It blocks on the input and, after EOF, until the connection is released.
//   - Writer, one per connection, started by Serve: encodes and writes output. It blocks
//     on the outbox and on the output. It ends after Drain, after a failed write, or
//     when Serve returns.
//   - Watcher, one per connection, started by jsonrpc2: waits for the context, and ends
//     when Serve returns.
//   - One per server request: waits for the response and calls the response function. It
//     ends with the response, when the request is resolved, or when Serve returns.
//   - Log writer: runs while log lines are queued, and blocks on stderr. Nothing waits
//     for it except Sync, for at most 100 ms.
//
// # Decisions
//
// jsonrpc2 sees stubs. Messages pass through a Conn of sourcegraph/jsonrpc2 with server-chosen
// ids and without bodies. The stream below it removes ids and bodies and restores them. So ids
// are repeated byte for byte, and bodies are decoded and encoded once. This relies on two
// properties of that library, and a test checks both:
//
//   - OnRecv is called on the reader goroutine, before the handler or the waiter gets the
//     message.
//   - Each sending method calls WriteObject once, on the caller's goroutine, before it
//     returns.
//
// A resolved server request without a response leaves an entry of some hundred bytes in the
// Conn.
//
// An incorrect response does not fail the open server requests. A client that confuses ids
// would otherwise decline an approval that its user has granted. The requests are sent again,
// at most twice.
package server
