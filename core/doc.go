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
// [SampleDone] or [SampleFailed] for [Sample], [ToolDone] for [RunTool],
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
package core
