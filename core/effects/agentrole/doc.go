// Package agentrole finds the roles of agents: kinds of agents that a model can choose when it starts one. A role sets
// the model, the reasoning effort, the instructions, the tools and the sandbox of its agents. [Find] reads the roles of
// a working directory.
//
// # Places
//
// From the weakest to the strongest:
//
//  1. the built-in roles;
//  2. tables of [agents] in the file for all users, and the files in the folder agents beside it;
//  3. ~/.claude/agents, in the form of Claude Code;
//  4. the same as 2 for the user's file in CODEX_HOME;
//  5. for each trusted folder of the project, from its root down to the working directory: .claude/agents, and then the
//     same as 2 for .codex;
//  6. the tables of the command line and of the client.
//
// A stronger role replaces one of the same name. A table without a file takes what it does not set from the role that
// it replaces, as in the reference implementation.
//
// # Hostile files
//
// Only regular files of bounded size are opened. Files of a project are in the project when all links are followed. A
// file that cannot be used is left out with a warning that names it. Names and descriptions are single lines without
// control characters. A setting that restricts and that is not obeyed leaves its role out. Another one has no effect,
// with a warning. The package starts no goroutines.
//
// # Decisions
//
// Roles are read at each turn and never watched, as skills are. An agent keeps what its role said when it started.
package agentrole
