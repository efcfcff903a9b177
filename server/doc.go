// Package server is the wire: it reads what clients send, hands requests to the
// handlers of the method table, and brings answers, notifications and questions to
// the clients, in order.
//
// # Framing
//
// With [Server.Serve] a message is a line of JSON in UTF-8, ended by LF or CRLF; the last line needs no
// end. A byte order mark at the very start and blank lines are passed over. A line
// has at most 64 MiB; a longer one is skipped to its end. Messages are read with or
// without the member jsonrpc and written with it. Invalid UTF-8 inside of strings is
// read as U+FFFD, but an id that holds it is refused.
//
// # Answers
//
// Every line that looks like a request has exactly one answer, with the id as the
// client wrote it, byte for byte. Lines that cannot be read are answered with the id
// null, as are requests with an id that is neither string nor number. A batch has
// one line with the answers to its requests, once the last of them is there; where
// nothing in it wants an answer there is none. An error always carries data.kind.
// Answers of the client that fit no question are logged and dropped, and so are its
// notifications. No line ends a connection.
//
// A request is refused as overloaded while 1,024 others of its connection are
// unanswered, or 32 MiB wait for the client to read them ([Server.Behind], which is for those
// who serve later, too). Above 64 MiB nothing more is
// read of the client until it has read: refusals take room, too. An answer that would have to
// wait for the rest of its batch, where 64 MiB of such wait, is replaced by that refusal,
// which says that the request was served.
//
// # Order
//
// Handlers run one at a time for each connection, in the order of arrival, on the
// goroutine that reads: they route, and do not wait. What [Server.Reply],
// [Server.Refuse], [Server.Notify] and [Server.Ask] are told leaves in the order of
// the calls, with two exceptions. The answers of a batch leave with its last one.
// And a delta that finds an earlier one of the same text still queued joins it,
// unless an item started or ended in between; nothing but deltas is ever merged, and
// nothing is dropped.
//
// Values that are handed over are encoded later, in another goroutine: they must
// not change any more.
//
// # Pressure
//
// The outbox has no limit of its own. [Server.Congested] tells producers of
// notifications to wait while more than 8 MiB are queued, until less than half of
// that is.
//
// # Clients that leave
//
// A connection of [Server.ServeFrames] ends with its input or its output: there may be
// others, so EOF does not tell of it. [Server.OnLeave] does, once nothing reaches it any
// more; answers that are still to come to it are dropped.
//
// # Shutdown
//
// The end of an input, or an output that is closed, ends nothing by itself, so that
// answers that are under way still leave. The program follows this sequence, each
// wait with a deadline:
//
//	<-s.EOF()      // or a signal
//	s.StopIntake() // later requests are refused, kind shuttingDown
//	s.Quiesce(ctx) // every accepted request has its answer
//	...            // the engine ends turns, and says so
//	s.Drain(ctx)   // the clients have taken everything; Serve returns
//
// A client that does not read cannot hold up Drain beyond its deadline, though the
// goroutine that writes to it stays behind: a write to an inherited pipe cannot be
// interrupted.
//
// # jsonrpc2
//
// Messages pass through a Conn of sourcegraph/jsonrpc2 in both directions, without
// their ids and bodies, which the stream beneath it takes off and puts back. This
// rests on two properties of that library that a test holds on to: OnRecv is called
// before the handler or the waiter sees a message, on the goroutine that reads; and
// each sending method calls WriteObject once before it returns, on the goroutine of
// its caller. An answered request leaves nothing behind; a question that was
// resolved and never answered leaves an entry of some hundred bytes in the Conn.
//
// # Goroutines
//
//   - The reader, one for each connection, started by jsonrpc2: reads lines and runs
//     handlers. It blocks on the input, and after its end until the connection is
//     released. It ends at the end of the input, once released.
//   - The writer, one for each connection, started by Serve: encodes and writes. It
//     blocks on the outbox and on the output. It ends when Drain lets it, when a
//     write fails, or when Serve returns.
//   - jsonrpc2's watcher, one for each connection: waits for the context. It ends
//     when Serve returns.
//   - One for each question that was sent: waits for the answer, and runs the answer
//     function. It ends with the answer, when the question is resolved, or when
//     Serve returns.
//   - The log's: lives while there are lines to write, and blocks on stderr. Nobody
//     waits for it.
package server
