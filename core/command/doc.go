// Package command reads shell commands as text: what they do ([Actions]), which
// files they change ([Changes]), whether they surely only read ([Safe]) or remove
// files by force ([Dangerous]), and how an argument vector is written as one line
// ([Quote]). It runs nothing, opens nothing
// and keeps no state; every function is total: no input panics or takes long.
//
// Actions and Safe understand the same small part of the shell: simple commands
// of literal words, joined by && || ; | and newlines, redirected at most to
// /dev/null or to standard output and error. A script that holds anything else (an
// expansion, an assignment, a group, a loop, a job in the background) is unknown
// to the one and unsafe to the other.
//
// They answer different questions, so they err to different sides. An action is
// what a user interface shows: a wrong one is a nuisance. Safe lets a script run
// without asking: it says no whenever the shells in use (bash, zsh, dash, fish)
// could read the script differently, or a program could be made to write or to run
// something else. What Changes says is for notes of what was done: it finds what a
// script names, and no more.
package command
