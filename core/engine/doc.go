// Package engine runs threads: it loads them, feeds them inputs one at a time,
// makes their lines durable before it says their messages, and starts their
// effects.
//
// # Order
//
// A thread's requests take effect in the order in which they were posted. For each
// input the lines are appended first, then the messages are handed to the outbox
// in order, then the effects are started. Where an append fails, nothing of the
// step is said: its callers are refused, and the thread is loaded anew from what
// the disk holds. A step that archives the thread has no lines: the thread is unloaded and
// its rollout moved, then the messages are said.
//
// # Goroutines
//
//   - One per loaded thread (actor.run) owns the thread and its journal; a thread that
//     takes another's place belongs to the other's until it is archived. It blocks
//     on its mailboxes, and on the disk. It ends when the engine closes, and
//     when its thread is not loaded and nothing waits for it. It unloads a thread that
//     nobody has been subscribed to for long. Between requests it
//     describes the items of a thread that was resumed.
//   - Two per effect (actor.launch). One runs it: a model request or a command. It
//     blocks on what it runs and on the thread's results, and ends when that ends;
//     Cancel and the engine's end cancel its context. The other waits for it, and
//     posts its terminal input; it gives up an effect that outlasts its
//     cancellation by more than cancelGrace.
//   - One per timer that fired (time.AfterFunc), to post it.
//   - One per request that reads the disk for a thread that is not loaded
//     (Engine.background). It ends with its answer; at most maxReaders read at once.
//   - One per change of what is kept of worktrees for which nothing waits
//     (Engine.aboutFiles). It blocks on the disk and on git, and ends with the engine.
//   - One per search (Engine.untilClosed), which ends it with the engine, and per comparison of
//     files. It ends with them.
//   - One for retention, where there is any (Engine.Retain). It blocks on the disk, on the
//     threads that it lets go, and on clients that do not keep up; it ends with the engine.
//   - One per model, when it is first asked (Engine.prepare): it loads what counting
//     its tokens takes, and ends.
//
// Effects post pieces of output while the clients that see them keep up. While one
// of them is congested, the thread takes no results, so that the pressure reaches
// the provider or the command; requests are still taken. One of a client that is behind when its
// turn has come is refused, unless it ends work: of what was asked at once few answers wait.
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
