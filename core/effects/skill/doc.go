// Package skill finds skills: folders with a file SKILL.md, which instructs the model how to do
// something. The model reads the file when the user names the skill. [Find] lists the skills for a
// working directory, [Named] picks those that an input names, and [Text] reads a file of a skill.
//
// # Places
//
// Skills of the repository are in .agents/skills and .codex/skills of the working directory and of
// each folder above it, up to the one with .git. Outside of a repository, only the working
// directory counts. Skills of the user are in ~/.agents/skills, in CODEX_HOME/skills, and in
// folders that clients name. Skills of the administrator are in /etc/codex/skills. Skills that the
// reference implementation installs are in skills/.system. Links to folders are followed. A file
// that is found twice is one skill, with its real path.
//
// # Format
//
// The file begins with YAML between lines of three dashes: name (default: the name of the folder),
// description, and metadata with short-description. agents/openai.yaml beside it can set how to
// show the skill, what it depends on, and that only the user can start it.
//
// Files may be missing, damaged or hostile. So only regular files are opened, and all reads are
// bounded. A file that is not a skill is reported with the reason. The package starts no
// goroutines.
//
// # Decisions
//
// Skills are read on every request and never watched. Reading a folder of skills takes a
// millisecond, and no response can be stale.
//
// The list of skills is part of each model request, like the tools, and not a context item. So it
// is never out of date. A skill that the user names becomes a context item, and stays.
package skill
