// Package find finds files by parts of their paths: it walks a directory, leaves out what git
// ignores, and ranks the rest as the finders do that people know.
//
// # What is left out
//
// In a repository what its .gitignore files, its info/exclude and the user's own git/ignore
// say, from the top of the repository on, also where the walk begins below; everywhere what
// .ignore files say, which are stronger. The folder .git is left out, other hidden files are
// not. Links to directories are followed once: not to where the walk is already. A walk of what
// is a repository's own follows none, and does not enter repositories inside.
//
// # What fits
//
// A query is words, all of which must fit, in any order and case. The characters of a word
// appear in the path in their order. A word that begins with ' appears as it is, one with ^
// begins the path, one that ends with $ ends it, one that begins with ! does not appear. The
// accents of a path count only for words with accents.
//
// # Ranks
//
// Matches are ordered by score, then by path. A query of one word without operators boosts
// matches within names: files named like the query first, then one such directory, then files
// with the match in their names.
//
// # Goroutines
//
// A walk has a few, which read directories, and ranking has a few, which compare. They end
// before the call returns, with the context at the latest, a read at its own end.
//
// # Decisions
//
// A library (fzf) selects the matching characters; the scores are those of the reference
// implementation, because the library's scores differ and cannot be configured. A match within
// a file name precedes all others. Equal scores are ordered by path.
//
// Ignore rules are read from git's files without running git. Its configuration can name
// programs, and nobody has declared the searched folders trusted.
package find
