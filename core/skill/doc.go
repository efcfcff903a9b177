// Package skill finds skills: folders with a file SKILL.md, which tells the model how to do
// something and is read once somebody names the skill.
//
// # Where
//
// Skills of the repository are in .agents/skills and .codex/skills of the working directory
// and of each folder above it, up to the one with .git; outside of a repository, of the
// working directory alone. The user's are in ~/.agents/skills, in skills of the home of
// settings, and in what clients name; the administrator's in /etc/codex/skills. What the
// reference implementation puts into skills/.system is found, too. Links to
// folders are followed; the same file is one skill, under its real path.
//
// # What
//
// The file begins with YAML between lines of three dashes: name (the folder's without),
// description, and metadata with short-description. agents/openai.yaml beside it can tell
// how to show the skill, what it needs, and that it is used only when somebody names it.
//
// Files may be missing, damaged or hostile: only regular ones are opened, all that is read
// is bounded, and what is no skill is told with its reason. Nothing is kept: each call sees
// the disk as it is. The package starts no goroutines.
//
// # Decisions
//
// Skills are read on every request and never watched. A folder of skills is read in a
// millisecond, and no response can be stale.
//
// The list of skills is part of each request, like the tools, and not an item of the history.
// So it is never out of date there. A skill that the user names becomes an item, and stays.
package skill
