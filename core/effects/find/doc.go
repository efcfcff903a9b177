// Package find finds files by parts of their paths. It walks a directory, leaves out ignored files,
// and ranks the rest as common file finders do.
//
// # Ignored files
//
// In a repository, the patterns of .gitignore files, of info/exclude and of the user's own git/ignore
// apply from its top on, even if the walk begins below it. Patterns of .ignore files apply everywhere
// and take precedence. The folder .git is left out; other hidden files are not. Links to directories
// are followed once, and never back to a directory that contains them. A walk of a repository's own
// files follows no links and enters no repositories inside.
//
// # Matches
//
// A query has words, all of which must match, in any order and case. The characters of a word occur in
// the path in their order. A word that begins with ' occurs unchanged, a word with ^ begins the path,
// a word that ends with $ ends it, and a word with ! must not occur. Accents of a path count only for
// words with accents.
//
// # Ranks
//
// Matches are ordered by score, then by path. A query of one word without operators prefers matches
// within names: first files named like the query, then one such directory, then files with the match
// in their names.
//
// # Goroutines
//
// A walk has a few that read directories, and ranking has a few that compare. They end before the call
// returns, at the latest with the context; a read ends at its own end.
//
// # Decisions
//
// A library (fzf) selects the matching characters. The scores come from the reference implementation,
// because the library's scores differ and cannot be configured. A match within a file name precedes
// all others. Equal scores are ordered by path.
//
// Ignore rules are read from git's files without running git. Its configuration can name programs, and
// nobody has declared the searched folders trusted.
package find
