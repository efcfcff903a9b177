// Package core is the thread state machine: a pure function of inputs. It opens no file, reads no clock
// and starts no goroutine. Ids, times and facts about the machine arrive with the input.
//
// # Step
//
// [Thread.Step] takes one input and returns an [Output]: lines for the thread's rollout, messages for its
// clients, and effects to start. The caller appends the lines first, sends the messages next, and starts
// the effects last, so that a client never receives what a crash can undo. Every durable change is a
// line. Step and [Load] apply lines by the same function, [state.State.Apply], so a loaded thread equals
// the one that wrote the lines. If [Output].Archive is set, the thread is unloaded and receives no more
// inputs.
//
// # Effects
//
// An effect is work outside of the core. An effect with an id ends with exactly one terminal input with this
// id: [ModelDone] or [ModelFailed] for [ModelRequest], [ToolDone] for [RunTool], [TimerFired] for [Timer], and so on.
// The terminal input also follows a [Cancel]. An input of an effect that the thread does not wait for
// changes nothing. An effect without an id, such as [RecordName], has no terminal input.
//
// # Context
//
// The model receives the history after its edits ([appserver/core/pure/history]). Clients name items by ids.
// [EditContext], [UndoContext], [RedoContext] and [RestoreContext] are accepted at any time, and each
// records one line. An operation of [EditContext] is a file of package history, with a row in its operations and a
// row in contextEdits of package protocol. The core treats all of them alike. A pending request keeps its [Prompt].
// The next request has the context of that time. [ContextChanged] notifies clients.
//
// # Turns
//
// A turn has a named state: it prepares a model request, has one pending, waits to retry it, compacts the context,
// runs calls, ends, and so on. turnmachine.go has the states, the changes that are permitted, and one function for
// each change; docs/turns.md has their table. A change without a row, or a turn that waits for nothing, sets the Fault
// of the [Output], and the engine loads the thread again. Each turn sends exactly one turn/completed, and nothing
// after it.
//
// A turn that waits only for the answer of a client about one call is in the log as such, by a turn_waiting
// line. A thread that is loaded again continues it: [Resume] starts the call again, and the call asks. All
// other turns without an end are closed as interrupted.
//
// # Tools
//
// A call of a tool has a kind, which is an interface. It starts the call, and it asks, accepts, declines, shows and
// aborts the call if the kind can do that. A tool is one file with its kind and its builtInTool, and builtintools.go
// lists it. The builtInTool has the specification for the prompt, the condition to offer it, and the function that
// decodes the arguments to the kind. A call of an unknown name is answered with the names of the tools.
//
// addCalls in tools.go records the calls of an answer. advance starts them, and requests the model when all are done.
// completeCall gives a call its output. It does not start the next call: handlers of inputs do, by effectOfCallEnded or
// advance.
//
// # Files
//
// A file uses the files before it in this list, and few after it:
//
//   - options.go, input.go and output.go have the types that enter and leave the machine. entry.go has Step.
//   - thread.go, turnstate.go, callstate.go and terminalstate.go have its data. turnmachine.go changes the state of
//     a turn.
//   - step.go has the actions of every step: record a line, send a message, start an effect.
//   - items.go, usage.go, status.go, contextchange.go, policy.go, callresult.go and closeturn.go serve many
//     inputs: the items that clients see, the tokens of requests, the status of the thread, changes of the
//     context, the rules for tools, results of calls, the end of an interrupted turn.
//   - prompt.go, offeredtools.go and environment.go build the model request.
//   - resumable.go and continueturn.go have the turns that outlive their server.
//   - modelrequest.go, compact.go, tools.go, approval.go and a file for each tool run a turn. They are one
//     cycle: a model request leads to calls, and their results lead to the next request.
//   - The other files have one kind of input each, with its handler.
//
// # Decisions
//
// docs/adr has the decisions that concern other packages as well; 014 has those of the context.
//
// Loaded entries are decoded when a request needs them. Long payloads stay in the rollout and are read
// again through [lineref.Lines].
//
// [ContextChanged] is the only message that is not a value. Its content depends on the client, so the
// engine builds it from the thread when it sends it, before the next step.
//
// An interrupted turn ends when its commands have ended. The response to turn/interrupt is sent at once.
// turn/completed follows after everything of the turn has ended.
//
// A tool of the client has no time limit, because it may wait for a person. An interrupt ends it.
//
// A command in the background belongs to the thread. Its item belongs to the turn that started it, and
// can end in a later turn. The command belongs to the turn until the model has received the number of
// its session. That number is the ordinal of the call's line, so sessions before and after a crash have
// different numbers.
//
// More than 64 commands in the background are rejected. The reference implementation ends the oldest one
// instead, but somebody left it running for a reason.
//
// The tool shell is offered beside exec_command, because most commands should end with their call and
// many models know no other tool. The reference implementation offers exec_command only.
//
// A turn with a command of the user requests the model only if there is input, and only after the command
// has ended, so that the model reads its output. The reference implementation ends such a turn without a
// response to the input.
//
// The conversation of a review is in memory only. It is useless after its turn, and a review does not
// outlive its process. The reference implementation gives it a thread with a rollout that no list shows
// but every search finds.
//
// The order of the timeline is stored beside the turns, 16 bytes per entry, because an item can join a
// finished turn. A page is found by position and decodes its own items only. Trim points are inserted
// when a page is built, so a later one moves no stored entry.
//
// Tokens are counted on first use, by the thread, and the counts are kept. A resumed thread counts while
// it is idle. The tables of the tokenizer load during the first model request of a turn, so that the end
// of the turn does not wait for them.
package core
