// Package engine runs threads. It loads them, applies inputs one at a time, makes their lines
// durable, sends their messages, and starts their effects.
//
// # Order
//
// The requests of a thread take effect in the order in which they were posted. Each input has three
// stages: its lines are appended, then its messages go to the outbox in order, then its effects
// start. If the append fails, no message of the step is sent. Its requests are rejected, and the
// thread is reloaded from the disk. A step that archives the thread has no lines: the thread is
// unloaded and its rollout moved, then the messages are sent.
//
// # Goroutines
//
//   - One per loaded thread (actor.run) owns the thread and its journal. It blocks on its mailboxes
//     and on the disk. It ends when the engine closes, and when its thread is not loaded and no
//     request waits. It also unloads an unused thread, ends the turn of a proxied request, and
//     describes the items of a resumed thread between requests. A successor belongs to the actor
//     of the archived thread until the archive is complete.
//   - Two per effect (actor.launch). One runs the effect, and blocks on it and on the thread's
//     results. Cancel and the end of the engine cancel its context. The other waits for it and posts
//     its terminal input. It gives up an effect that outlasts its cancellation by cancelGrace.
//   - One per timer that fired (time.AfterFunc), to post it.
//   - One per request that reads the disk for a thread that is not loaded (Engine.Background). It
//     ends with its response. At most maxReaders read at the same time.
//   - One per change of checkpoints in the background (Engine.withWorktrees). It blocks on the disk
//     and on git, and ends with the engine.
//   - One per search (Engine.untilClosed) and per comparison of files. They end with their results,
//     or with the engine.
//   - One per login at an MCP server (Engine.login). It waits for the user, and ends with the login or
//     with the engine.
//   - One for retention, if it is enabled (Engine.Retain). It blocks on the disk, on the threads
//     that it removes, and on congested clients. It ends with the engine.
//   - One per compression of old rollouts (Engine.RolloutCompress). It blocks on the disk and on the
//     threads that it compresses, and ends with the engine.
//   - One per model, before its first request (Engine.prepare). It loads the tokenizer and ends.
//   - One per model request, with its first answer (Engine.hashPrompt). It hashes the prompt and ends.
//
// A panic in any of them is logged. It fails the request, the effect or the turn that it belongs to, and no other.
//
// # Pressure
//
// Effects post output while its subscribers read their messages. If one of them is congested, the
// thread accepts no results, so that the pressure reaches the provider or the command. Requests are
// still accepted. A request is rejected if its client still has unread output when it is dequeued,
// unless the request ends work. This limits the responses that wait for a client.
//
// # Files
//
// A file uses the files before it in this list, and few after it:
//
//   - parts.go has the parts of an engine, ports.go and scope.go the interfaces of which they consist, errors.go the
//     errors for clients.
//   - engine.go, actor.go and proxiedstate.go have the data: the engine, one actor for each loaded thread, and the
//     requests that another method serves. new.go makes and closes an engine.
//   - reader.go builds threads from the lines of rollouts, load.go and open.go load them.
//   - launch.go runs effects; effects.go, threadservers.go, threadmemory.go and worktree.go start each kind.
//   - step.go runs one input: append, send, start effects. recover.go and journal.go handle failed appends.
//   - loop.go is the goroutine of a thread. dispatch.go finds, loads or creates the thread of a request, or reads a
//     stored one in another goroutine.
//   - The other files have the methods of the protocol, a file for each topic.
//
// # Decisions
//
// Secrets are removed from lines before they are appended. The core and the model see the
// original text. So a thread that is loaded again has less than the thread that ran.
//
// Retention selects and archives or deletes in one loop, oldest thread first, each in its own
// goroutine and under its lock. It skips a thread that is in use and takes the next one.
// Nothing that was written within the last day is removed, whatever the limits are.
//
// With the action archive, history.maxBytes limits what is not archived. A move frees no space,
// and archived threads are deleted only if the configuration asks for deletion.
//
// server/diagnostics waits for nothing, except once for the process that tests whether the
// kernel supports the sandbox. The state of the index is published under a lock of its own,
// which is never held during I/O. Diagnostics would otherwise be slow exactly when they are
// needed.
package engine
