// Package index keeps a SQLite database of a store's rollouts, so that lists and searches need
// not read them.
//
// # File
//
// The database can be deleted at any time, because all of it is made from the rollouts. It is
// opened by the first list or search; neither the start of the server nor a turn needs it. A
// file that is damaged, of another version, or not an index is renamed with the suffix
// ".damaged" and replaced. While no complete index is available, [Index.List] returns false,
// and the caller reads the files.
//
//	sessions   one row per file below sessions and archived_sessions, listed or not
//	messages   messages of users and agents, and tool calls without their outputs
//	found      full-text index of messages, by trigrams
//	titled     full-text index of previews, by trigrams
//
// Times are Unix nanoseconds. The index never writes rollouts.
//
// # Updates
//
// A file is identified by inode, size and time, and by a checksum of its first 1 KiB. If a
// file has grown, only the new lines are read. If it has changed in another way, it is read
// again.
//
// Before each list, the index checks the times of folders, which reveal created, removed and
// replaced files. It also checks the files that this process wrote ([Index.Note]), the files
// written last, and those of the page. Other processes may append to older files. A sweep over
// all files finds those; a list starts one if the last is more than 15 seconds old.
//
// Batches are written in transactions, so after a crash the next sweep continues. Servers with
// the same home share the file and write in turns. If two servers read the same lines, they
// are stored once.
//
// # Errors
//
// An invalid cursor is a *rollout.CursorError. An unusable database is rollout.ErrNoIndex for
// searches; lists then read the files. Options.Report gets all errors of the database.
//
// # Goroutines
//
// At most one sweep runs. It blocks on the disk, and for some seconds on the write of another
// server. It ends on its own, or after the present line when Close is called. Close starts one
// goroutine that waits for the sweep.
package index
