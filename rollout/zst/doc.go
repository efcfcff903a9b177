// Package zst presents compressed rollouts as plain ones. It knows names and bytes, but neither lines nor threads.
//
// The reference implementation compresses old rollouts: rollout-….jsonl becomes rollout-….jsonl.zst, in the format of
// RFC 8878. [FS] is a file system in which such a file has the name without .zst. So all other packages know one name
// of a rollout, and a thread is the same in both forms. Backups and other files whose names begin with that of a
// rollout can be compressed as well.
//
// If both forms of a file exist, the plain one counts, as in the reference implementation. The compressed one is then
// hidden. [FS.Settle] removes it if the plain file has all of its content.
//
//   - Reading decompresses. [disk.Compressed] describes such files.
//   - Opening a file to append decompresses it first ([FS.Expand]).
//   - Links and renames keep the form. A file that is renamed to a name replaces both forms of it.
//   - Removing removes both forms, the compressed one first, because it may be older.
//
// # Reading
//
// A file is decompressed as far as it is read. Reading at growing offsets holds the last bytes that were read, and the
// first 64 KiB. A read before these decompresses the whole content: up to 8 MiB into memory, and a longer one into a
// file below appserver-cache in the home, which loses its name at once (on Windows, when it is closed).
//
// Memory is bounded for any file: a window may have 32 MiB, and the content of a file 2 GiB.
//
// If a file is damaged, truncated or followed by other bytes, the content before that can be read as that of a file of
// this length. [disk.Problem] returns the reason.
//
// # Durability
//
// [FS.Compress] and [FS.Expand] write a temporary file, compare it with its source, sync it, rename it and sync the
// folder. Then they remove the source. So after a crash at any moment, one of the forms has the whole content, or both
// have. Both keep the modification time and the permissions, because lists depend on the former. The caller holds the
// writer lock of the thread.
//
// The source of [FS.Expand] is kept with the suffix .orig if not all of it can be decompressed.
//
// # Concurrency
//
// An [FS] and its files are safe for concurrent use. It starts no goroutine.
//
// # Decisions
//
// The form of a file is decided here and nowhere else. Other places, such as one reader of lines for both forms, would
// leave moves, backups, repairs and deletions to know both.
//
// A temporary file for long contents takes disk space during a load. Without it, lines that are read again would cost
// the decompression of all lines before them.
package zst
