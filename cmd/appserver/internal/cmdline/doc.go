// Package cmdline parses command lines by one table of commands. The same table is the source of the help, of
// suggestions for mistyped words, of the completion in shells, of the manual page and of the reference in docs/cli.md.
//
// A [Command] has a name, a line of documentation, the forms of its arguments, a function that defines its flags, and
// nested commands. [Program.Run] finds the command and runs it, [Program.Help] writes the help, [Program.Complete]
// lists the completions of a word, [Program.Manual] writes the manual page, and [Program.Reference] the reference.
//
// Flags are those of package flag: -name and --name, -name=x and -name x. They can be before, between and after
// arguments; "--" ends them. Flags of a nested command can also be before its name. The parser then takes their form
// from the nested commands, which agree about it.
//
// # Decisions
//
// The table is our own, upon package flag. Clients of the reference implementation and scripts depend on forms that
// libraries for commands do not accept together: long flags with one hyphen, flags before the name of a nested
// command, and flags of the program before and after the name of a command. pflag, which cobra needs, reads -listen
// as six short flags; kong and urfave/cli have parsers of their own with other rules for "--" and for flags before
// a command. Each would also need a layer that keeps the present messages, and adds code to a binary whose size is
// bounded. This package is smaller than that layer: it finds nested commands, and makes texts from the table.
//
// Completion is done by the program, which the scripts of the shells call as appserver __complete WORD.... So a script
// never describes another version than the one that is installed, and all shells complete the same words.
package cmdline
