// Package core is the thread state machine: a pure function of inputs. It opens no
// file, reads no clock and starts no goroutine; ids, times and what is to be known
// of the machine come in with the input.
//
// # Step
//
// [Thread.Step] takes one input and returns lines for the thread's rollout,
// messages for its clients and effects to start, in that order of importance: the
// caller appends the lines before it says the messages, and starts the effects
// last. Every durable change is a line, and [Load] brings a thread back by
// running its lines through the function that Step itself uses to change state. Where
// [Output].Archive is set the thread is unloaded, and no more inputs come.
//
// # Effects
//
// An effect has an id and ends with exactly one terminal input that carries it:
// [ModelDone] or [ModelFailed] for [ModelRequest], [ToolDone] for [RunTool],
// [TimerFired] for [Timer]. After [Cancel] the terminal input still comes. Inputs
// of effects that the thread no longer waits for change nothing.
//
// # Context
//
// What the model is sent is made of the history and the edits of it. Clients name its
// items by ids; [EditContext], [UndoContext], [RedoContext] and [RestoreContext] are
// taken at any time, one line each. A request under way keeps its [Prompt]; the next one
// is made of what holds then. [ContextChanged] tells that clients are to be told.
//
// # Turns
//
// A turn is sampling (a model request is under way), running tools, waiting for
// the client's approval, settling (finished, held back for slow clients), or
// ending (interrupted, its effects on their way out). Exactly one turn/completed
// is said for each, and nothing of the turn after it.
//
// # Decisions
//
// Decisions that concern other packages too are in docs/adr; 014 has those of the context.
//
// Loaded entries stay undecoded until a request needs them. Long payloads stay in the rollout
// and are read again through [lineref.Lines].
//
// [ContextChanged] is the only message that is not a value. What a client is sent of the list
// depends on the client, so the engine builds it from the thread when it sends it, before the
// next step.
//
// An interrupted turn ends when its commands have ended. The response to turn/interrupt comes
// at once, and turn/completed after nothing of the turn runs any more.
//
// A tool of the client has no time limit, because it may wait for a person. An interrupt ends
// it.
//
// A command in the background belongs to the thread. Its item belongs to the turn that started
// it, and can end in a later turn. The command belongs to the turn until the model has received
// the number of its session. That number is the ordinal of the call's line, so sessions before
// and after a crash have different numbers.
//
// More than 64 commands in the background are refused. The reference implementation ends the
// oldest one instead, but somebody left it running for a reason.
//
// The tool shell is offered beside exec_command, because most commands should end with their
// call and many models know no other tool. The reference implementation offers exec_command
// only.
//
// A turn with a command of the user requests the model only if there is input, and only after
// the command has ended, so that the model reads its output. The reference implementation ends
// such a turn without a response to the input.
//
// The conversation of a review is in memory only. It is useless after its turn, and a turn does
// not outlive its process. The reference implementation gives it a thread with a rollout that
// no list shows but every search finds.
//
// The order of the timeline is stored beside the turns, 16 bytes per entry, because an item can
// join a finished turn. A page is found by position and decodes its own items only. Trim points
// are inserted when a page is built, so a later one moves no stored entry.
//
// Tokens are counted on first use, by the thread, and the counts are kept. A resumed thread
// counts while it is idle. The tables of the tokenizer load beside the first model request of a
// turn, so that the end of the turn does not wait for them.
package core
