// Package slash reads slash commands: what a person types where a message to the agent
// goes, to have something done to the conversation instead. Each stands for a method of
// the protocol.
//
// A command stands alone: the whole text is the command and its arguments. What begins
// with the name of a command and goes on otherwise is a command that is used wrongly, not
// a message; what begins with another word, after a slash or not, is no command.
//
// # Decisions
//
// A slash command is a request of another method, and this package has the only table. The
// server serves the method of the row. The engine decides when it may be served, in the
// goroutine of the thread, so that no turn can start between check and execution.
//
// A slash command in turn/start gets a turn without lines in the rollout, because clients wait
// for the end of what they started. Its end is held back like any other, and the thread waits,
// so that turns do not overlap.
package slash
