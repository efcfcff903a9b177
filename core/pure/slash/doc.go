// Package slash parses slash commands. A person types one instead of a message to the agent, to
// change or inspect the conversation. [Find] parses a text, [Typed.Params] gives the params of the
// command's method, and [Commands] is the table of all commands.
//
// The whole text is the command and its arguments. A text with the name of a command and invalid
// arguments is a usage error, and not a message. A text that begins with any other word is no
// command, with or without a slash.
//
// # Decisions
//
// A slash command is a request of another method, and this package has the only table. The
// server serves the method of the row. The engine decides when it may be served, in the
// goroutine of the thread, so that no turn can start between check and execution.
//
// A slash command in turn/start gets a turn without lines in the rollout, because clients wait
// for the end of each turn that they start. The turn ends after the same delay as any other, and
// the thread starts no other turn before, so that turns do not overlap.
package slash
