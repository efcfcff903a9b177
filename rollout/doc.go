// Package rollout stores the log of each thread in an append-only file of JSON lines. If the
// file holds a selection of the lines, a backup holds the full log. The package also lists,
// archives, repairs and deletes these files.
//
// The format is that of the reference implementation, and both programs may use the same
// files. Lines of type context_backup and repaired are additions of this package.
//
// # Parts
//
// A [Store] consists of packages with one task each. A store's methods combine them.
//
//   - disk: file operations that are durable and all or nothing, and errors with the next action
//   - line: the format of a line, damage, ordinals
//   - home: names and folders of files, writer locks
//   - zst: compressed files, which all other packages know by their plain names
//   - listing: what lists show, read from the starts and ends of files
//   - this package: whole rollouts, which are loaded, appended to, rewritten, moved, repaired,
//     redacted and deleted
//
// An appended line gets an ordinal above all others. The next append after a torn tail
// terminates it with LF; from then on it is damage. A log loses no bytes except those of a
// failed append.
//
// # Loading
//
// [Store.Load] and [Store.OpenTo] pass lines to a [Loader] and hold a few of them in memory. A
// [LineReader] reads payloads again later; a line that has changed is an error. The file may
// grow and be moved meanwhile. [Store.Read] and [Store.Open] keep all lines in memory.
// [Store.Read] rejects files above 2 GiB.
//
// After a load that reads more than 2 MiB and an eighth of the file, or 16 MiB, a snapshot of the
// Loader is kept in home/appserver-cache. The next load reads only the lines after it. A cache
// that does not match the file is ignored. The bytes of the snapshot stay in memory until the
// LineReader is closed: 12 bytes a line, and what the Loader wrote.
//
// If a rollout is empty and has a backup, lists show the backup. The first load restores the
// file from it. Contents.Restored reports that. Without a backup, lists of files report it; a
// list with the index shows what the index knows of the thread.
//
// # Forks and reverts
//
// In the reference implementation, a fork does not copy the lines before it, and a revert
// starts another file of the thread. Loading returns the lines of the origin and the own ones,
// with the session_meta of the fork in place of the origin's. Forks of this server contain all
// of their lines. All files of a thread are archived, unarchived and deleted together.
//
// # Backup
//
// [Log.CloseRewritten] rewrites a file so that readers without support for edits see the right
// context. The full log is kept in a file with the suffix .bak. This line refers to it:
//
//	{"timestamp":"…","ordinal":7,"type":"context_backup","payload":{"bytes":900,"crc32c":1}}
//
// The lines before it are a selection of the first 900 bytes of the backup. These bytes end
// with LF and have that CRC-32C (Castagnoli). With 0 bytes, the lines before it are complete.
// The last such line counts. The lines after it are newer than the backup. A line without one
// of the two numbers counts as well, but matches no backup.
//
// The full log consists of these bytes of the backup and of the file from the context_backup
// line on. If that line's offset is larger than the number of bytes, spaces fill the
// difference. The first session_meta of the backup must have the thread's id. If the backup
// cannot be used, the lines of the file alone are returned, and Contents.Backup has the
// reason. Head and List read the file only.
//
// A rewrite appends the newer lines to the backup. So each state of the full log is a prefix
// of all later ones, byte for byte, damage included. An older copy of the file still matches
// its backup. Additional bytes in the backup are truncated if they repeat the file's, because
// an interrupted rewrite leaves them. With other additional bytes, the file is not rewritten.
// The first backup is a hard link to the file, or a copy on a disk without links. It replaces
// an earlier state of the same file. With any other file in its place, the rollout is not
// rewritten.
//
// Selected lines are copied, or get another payload and their ordinal in the full log. Damage
// is omitted. To restore a file, the full log is written byte for byte.
//
// A rollout behind a symbolic link is not rewritten, because its backup would not be beside
// it. The backup itself may be a symbolic link.
//
// # Durability
//
// [Log.Append] is all or nothing and uses one write. With sync, the lines and the folders
// above the file are durable when it returns nil. After an error, the file is truncated to its
// former size. If that fails, the next append truncates first, or terminates the rest with LF;
// whole lines of the failed append can then be read later. After a failed sync, a power
// failure may lose earlier lines that were appended without sync. The end of the process loses
// none.
//
// A rewrite syncs in this order: the log, the backup, the new content in a file with the
// suffix .tmp. Then it renames that file. So after a crash at any moment, the file and its
// backup contain all lines. A crash may leave a longer backup or the .tmp file. The next
// rewrite removes the latter; it never writes to it, because it may be a hard link to the
// rollout. [Store.RemoveLeftovers] removes those of all threads without a writer. A rewrite has a
// few lines in memory at a time, and those that the backup does not have yet.
//
// The first append of a new thread also writes to a .tmp file, and then renames it. Lines that
// the thread copies from another one are synced first. So no rollout is empty, and no crash
// leaves a part of the copied lines. The lines are copied byte for byte ([Seed]), a few at a time;
// only a line with another ordinal or payload is written anew.
//
// # Archive
//
// A rollout and its backup keep their names in archived_sessions. They return to the folder of
// the day in the name. The order is: link or copy the backup, link the rollout, remove the old
// rollout, remove the old backup. Folders are synced between the steps. So each name of the
// rollout always has a backup beside it, and no file is overwritten.
//
// A crash may leave two names of a rollout. The one below sessions counts. [Store.FinishMoves]
// removes the other one if its content is an earlier state. A crash may also leave a backup
// without a rollout, which is never read. The newest file of a thread is archived last and
// unarchived first, so that Find always returns it.
//
// Other programs may move a rollout without its backup. The backup is then found at the former
// path, and Open moves it beside the rollout.
//
// # Compression
//
// The reference implementation compresses old rollouts, and so does [Store.Compress]. A compressed rollout is the
// thread of the plain file: it has the same path in lists, lines, modification time and lock. Its backup can be
// compressed too. [Store.Open] decompresses the rollout, and a rewrite the backup. [Contents] has as damage the place
// at which the compression is damaged; the lines before it are read. [Store.RemoveLeftovers] removes a compressed form
// that a crash has left beside the plain one.
//
// # Deletion
//
// A rollout is deleted before its backup. All names of the thread are deleted, with the
// leftovers of interrupted moves. A thread that another one depends on is not deleted
// ([InUseError]).
//
// # Repair
//
// [Store.Repair] writes a file that loads as the damaged one does, with its backup unchanged.
// Ordinals stay, explicitly if needed, and lines keep their offsets or move back. A "repaired"
// line reserves the ordinals of lines that were lost at the end. A lost session_meta is
// reconstructed if ordinal 0 is free. The new content is verified before anything is written.
// The original is kept with the suffix .orig, and unreadable bytes with .lost.
//
// # Redaction
//
// [Store.Redact] removes secrets and keeps no copy of them. The redacted full log replaces the
// file, and the backup is removed after that is durable. [Store.Redact] does not keep a
// selection: two files would have to change together, and a crash between them would break the
// checksum.
//
// # File descriptors
//
// If the process runs out of file descriptors, the store suspends all idle logs
// ([Log.SetIdle]): it closes their files and releases their locks. Before its next append, a
// suspended log takes its lock again. The file must have the same size, time and identity.
//
// # Errors
//
// Errors of the parts pass unchanged. This package adds:
//
//	*BackupError                the backup cannot be used
//	*InUseError, *ExistsError   another thread depends on it; it exists already
//	ErrChanged                  another program changed the file of a suspended log
//
// [IsShortage] and [IsTransient] classify errors of the system.
//
// # Concurrency
//
// A [Store] is safe for concurrent use. A [Log] belongs to one goroutine at a time, and to the
// store while it is idle. A [LineReader] belongs to one goroutine.
// [LineReader.Detach] gives another goroutine the lines of that time, with files of its own.
//
// Load and a rewrite start one goroutine per file, which reads and parses the next chunk. The first
// append of a thread with a [Seed] starts one per 256 KiB of the seed, one per CPU at a time, which
// reads and chooses lines. All end before the call returns.
//
// # Decisions
//
// A rewritten file is never shorter than before. The reference implementation stores in a
// database how many bytes and ordinals of a rollout it has read. If the file shrinks, it never
// shows later lines, and it cannot fork the thread. So a line keeps its offset in the full
// log, and spaces fill the gaps. A longer line moves later lines back until there is room, but
// never forward.
//
// A rewrite copies the timestamp of the last line, because it is not an update of the thread.
//
// A backup is a hard link where possible, so that the first rewrite of a large thread copies
// nothing.
package rollout
