// Package command analyses shell scripts as text: what they do ([Actions]), which files they
// change ([Changes]), whether they only read ([ReadingFor], [Safe]), whether they remove files by force
// ([Dangerous]), and which patch they apply ([Patch]). [Quote] writes an argument vector as one
// line. The package runs and opens nothing, and keeps no state. Every function is total: no input
// panics or takes long.
//
// # Scripts
//
// Actions and ReadingFor understand the same small part of the shell: simple commands of literal words,
// joined by && || ; | and newlines. Redirections may go to /dev/null, standard output or standard
// error only. A script with anything else (an expansion, an assignment, a group, a loop, a job in
// the background) is unknown to Actions, and does not count as reading.
//
// # Decisions
//
// The functions have different costs of an error, so they do not share a verdict. Actions is for
// user interfaces, where a wrong action is a nuisance. ReadingFor lets a script run without approval. So
// it returns MayWrite if one of the shells in use (bash, zsh, dash, fish, ksh) could read the script
// differently, or if a program could write or run something. Text does not show where links lead and
// which programs a repository names. So there are two kinds of scripts that read: those that must be
// confined to it, and those that open nothing. testdata/reading.txt has examples of each.
// Changes serves records of what was done: it lists the files that a script names, and no others.
package command
