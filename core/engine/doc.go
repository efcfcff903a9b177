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
//   - Two per effect (actor.launch), and one more that tracks the files of a background command (actor.runWatched). One
//     runs the effect, and blocks on it and on the thread's results. Cancel and the end of the engine cancel its
//     context. The other waits for it and posts its terminal input. It gives up an effect that outlasts its
//     cancellation by cancelGrace.
//   - One per timer that fired (time.AfterFunc), to post it.
//   - One per request that reads the disk for a thread that is not loaded (Engine.Background). It
//     ends with its response. At most maxReaders read at the same time.
//   - One per change of checkpoints in the background (Engine.withWorktrees). It blocks on the disk
//     and on git, and ends with the engine.
//   - One per search (Engine.untilClosed) and per comparison of files. They end with their results,
//     or with the engine.
//   - One per question of a client to MCP servers, and per login at one (Engine.workWithServers). It waits for the
//     servers or the user, and ends with their answer or with the engine.
//   - One per summary for the memory (actor.startMemoryEffect). It ends with the summary or with the engine.
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
// # Methods
//
// A method of the protocol is a method of Engine. It returns an error to reject the request at once. Otherwise it must
// reply, once. It does not block: a helper of dispatch.go, or of servers.go and memory.go for their methods, runs the
// rest elsewhere.
//
//   - changeThread applies an input to a thread, loaded or not; changeThreadBy makes the input in its goroutine.
//   - toThread, toThreadBy and toThreadWithEnv do so for loaded threads, and reject requests for others.
//   - readThread applies an input that changes nothing, to a thread that is loaded or not. viewThread and workOn do the
//     same with a function of the thread.
//   - Background replies from the disk, without a thread.
//   - post is below all of them. A method uses it if it treats a thread that is not loaded in its own way, as
//     thread/resume does: it loads the thread, or joins the loaded one.
//
// # Ends
//
// A thread is unloaded by one of the functions in unload.go. unload is for a sound thread, and rewrites its rollout if
// that is enabled; closeThread leaves the rollout as it is. closeFailed, closeLost and closeBroken are for journals
// that failed, leases that ended, and states that cannot be reloaded. Two are beside their callers: closeOnError, for a
// thread that was not created or loaded, and discard, for a successor that no client knows.
//
// # Files
//
// A file uses the files before it in this list, and few after it:
//
//   - parts.go has the parts of an engine, ports.go and scope.go the interfaces of which they consist, errors.go the
//     errors for clients.
//   - engine.go and actor.go have the data: the engine, and one actor for each loaded thread. new.go makes and closes
//     an engine. proxied.go has the requests that another method serves.
//   - builder.go builds threads from the lines of rollouts. stored.go loads threads to read them. open.go starts
//     threads and loads them to write, with the options of options.go; oneshot.go loads one for a single input.
//   - launch.go runs effects; effects.go, threadservers.go, threadmemory.go and worktree.go start each kind.
//   - step.go runs one input: append, send, start effects. turnenv.go has the environment of turns. recover.go and
//     journal.go handle failed appends, and journals that the store has suspended. unload.go unloads threads.
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
