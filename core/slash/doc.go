// Package slash reads slash commands: what a person types where a message to the agent
// goes, to have something done to the conversation instead. Each stands for a method of
// the protocol.
//
// A command stands alone: the whole text is the command and its arguments. What begins
// with the name of a command and goes on otherwise is a command that is used wrongly, not
// a message; what begins with another word, after a slash or not, is no command.
package slash
