// Package listing reads what lists show of threads. It reads the starts and ends of rollouts and
// changes nothing.
//
// # Heads
//
// A [Head] comes from the first 64 KiB of a file: session_meta, the first turn_context, and the
// first user message. Without a user message it is up to 1 MiB. Of longer lines only the first
// 64 KiB count. [Latest] is the state that later lines override; a list reads it from the last
// 256 KiB, or up to 64 MiB until model and time are known. If a file is empty and has a backup,
// the backup counts. In a fork of the reference implementation, the first user message may come
// from the origin file.
//
// # Lists
//
// [Lister.List] returns one head for each thread, by the time in the file name or by the last
// update. Files without a user message are omitted. [Page] has the errors of files that cannot
// be listed. A cursor is a [Position] in the list, so a page stays valid when threads are added
// or removed.
//
// [Lister.Dependents] and [Lister.History] answer which threads begin in files of others.
// [MessageOf] returns the searchable content of a line.
//
// # Errors
//
//	*CursorError   an invalid cursor
//	*disk.Error    an operation failed
//
// # Concurrency
//
// A [Lister] is safe for concurrent use.
//
// # Decisions
//
// A list without an index opens the files of its page only. So it takes as long for ten
// thousand threads as for a hundred. By the last update it reads the ends of all files that
// have changed since the previous such list.
package listing
