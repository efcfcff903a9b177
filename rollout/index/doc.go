// Package index knows what is in the rollouts of a store, so that lists and searches read
// none of them.
//
// # File
//
// It keeps a SQLite database, which everything can be done to: it holds nothing that
// the rollouts do not. It is opened when a list or a search first asks, and never needed
// to start, or for a turn. One that is damaged, of another version or no index gets
// ".damaged" behind its name, and another is made; one that was deleted is made again.
// While there is none that is complete, [Index.List] says so, and the files are asked.
//
// Table sessions has a row for each file below sessions and archived_sessions, whether
// lists show it or not; messages has what was said, and which tools were called, but not what
// those gave; found finds messages by each three characters of them. Rollouts are never
// written.
//
// # Upkeep
//
// A file is known by its inode, size and time, and by the checksum of its begin. Of one
// that has grown what is new is read, line by line, as far as it can be; any other that has changed is
// read anew. Before each list the index looks at the times of the folders, which tell of
// files that came, went or were replaced; at the files that this process wrote
// ([Index.Note]); at those that were written last; and at those on the page. Files that
// somebody else went on writing after a long rest are found by a sweep, a look at all of them,
// which a list begins where the last one is some seconds old.
//
// What is read is written in batches, each whole or not at all: after a crash the next
// sweep goes on. Servers that share a home share the file; they take turns at writing, and
// what two have read at once is kept once.
//
// # Goroutines
//
// At most one at a time, for a sweep. It blocks on the disk, and on another server's
// write for a few seconds at most; it ends by itself, and Close ends it after the
// line that it reads. Close starts one that waits for it.
package index
