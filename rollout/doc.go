// Package rollout is the durable log of a thread: one file of JSON lines that is
// appended to, the backup that has all of it where the file has a selection, and the
// folders that hold such files.
//
// # Format
//
// A rollout is home/sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<id>.jsonl, by
// local time, or any such name below home/archived_sessions. <id> is the thread's
// UUID; it names the thread even where the file's content is lost. Folders have
// mode 0700, files 0600. Only regular files, or links to them, are opened.
//
// A line is a JSON object that ends with LF:
//
//	{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{...}}
//
// It must have a string "type" and a "payload" of any kind. Other members are
// ignored, as are a byte order mark at the start of the file, CR before LF, and
// blank lines. A member that occurs twice counts as it was last. JSON nests at most
// 10,000 deep.
//
// Everything else that ends with LF is [Damage]: it is skipped, reported with its
// line and offset, and stays in the file. What stands behind the last LF counts if
// it is a whole line; otherwise it is a torn tail, the trace of a write that was
// never acknowledged: an end, not damage. The next append closes it off with LF,
// from when on it is damage like any other. A tail with zero bytes is damage: no write
// leaves them, but some disks do after a crash. Nothing is ever taken out of a log
// except the bytes of a failed append.
//
// A line without an ordinal, an integer from 0 and below 2^53, has one more than the line
// before it. Damaged lines count as one each, so that the ordinals of sound lines
// do not depend on the health of others. An appended line has one that is above all. From the first context_backup line on,
// ordinals only grow: a lower one counts as none.
//
// # Loading
//
// An empty file with a backup is listed by the backup, and has its content from the first
// load on. Contents.Restored reports that.
//
// Load and OpenTo hold a few lines in memory at a time, whatever the size of the file, and
// know then where each stands: a [Text] reads its payload again. The file may grow
// meanwhile, and be moved; a line that is not what it was is an error. Read and Open
// keep all lines.
//
// # Forks and reverts
//
// A session_meta with forked_from_ordinal_exclusive, or with a history_base, is the first
// line of a fork of the reference implementation: the lines of another rollout
// below that ordinal come before its own, which have the ordinals from there on. Loading
// gives all of them, with that first line in the place of the other's. Head and List
// take the first user message from there, and all else from the file. This server's own forks have all of their lines.
//
// The reference implementation takes turns back by beginning another file of the thread, which goes on
// from an earlier one and is named rollout-<time>-<id>_<file's id>.jsonl. A history_base names
// files by their own ids; that of a thread's first file is the thread's. The last file in the
// order of paths is the thread: it is listed, read, and appended to. The others are read by
// those that go on from them. All go to the archive, back, and away together.
//
// # Backup
//
// [Log.CloseRewritten] leaves in a file what a reader that knows of no edits shall see,
// and the full log in the file of that name with .bak behind it. A line
//
//	{"timestamp":"…","ordinal":7,"type":"context_backup","payload":{"bytes":900,"crc32c":1}}
//
// in the file says: the lines before this are a selection of those in the first 900
// bytes of the backup, which end with LF and have that CRC-32C (Castagnoli). With 0
// bytes it says that the lines before it are all there are. The last such line counts;
// lines behind it are newer than the backup. One whose payload lacks either number is
// in force too, but fits no backup.
//
// The full log is those bytes of the backup, then those of the file from the
// context_backup line on, and that is what Read and Open give. Where the line stands
// behind more bytes than it names, spaces that make up for them are between the two. The backup must also be the thread's: the first session_meta in it must not have
// another's id. One that is not right is refused: then the lines are those of the file
// alone, and [Contents].Backup tells why. Head and List look at the file only.
//
// The next rewrite appends to the backup what it takes from the file, so that each
// state of the full log is the begin of all later ones, byte for byte, damage
// included, and an older copy of the file still finds its backup. Bytes behind those
// that the file names are cut off where they repeat the file's, as a rewrite that
// broke off leaves them; others are kept, and nothing is rewritten. A file that
// is whole gets the backup as a second name of itself, or as a copy where the disk has
// no links; an earlier state of it that has the name gives way, whatever else has it
// stays, and nothing is rewritten.
//
// Selected lines stand as they did, or with another payload and with the ordinal that
// they have in the full log; their other members stay. Damage is left out. A file that
// is made whole again is the full log byte for byte.
//
// A rewritten file is never shorter than it was. The reference implementation keeps in a
// database how many bytes and how many ordinals of each rollout it has seen, and takes
// what it shows people from the lines that are behind both: of a file that got shorter it
// never shows what is added next, and such a thread it does not fork. So a line stands
// where it stands in the full log, as does the context_backup line, which stands where
// the file ended. Where lines before it were left out or got shorter, spaces at
// the end of the line before have their place. Where they got longer it begins later, until there is room
// again, but never before its place: who goes on reading in the middle of a line has
// seen that line.
//
// A rollout whose path leads to a symbolic link is not rewritten, since its backup
// would not be beside it. A backup may be a link to a file.
//
// // # Durability
//
// [Log.Append] is all or nothing. Its lines leave in one write; with sync they and
// the folders that lead to them are on the disk when it returns nil. When it returns
// an error the file has been cut back to where it was. Where it cannot be cut either,
// the log remembers that, and before its next append cuts again or, failing that,
// closes off the rest with LF; then whole lines of the failed append can be read
// later. Lines that were appended without sync before a sync that failed may be
// missing after a power cut, though not after the death of the process.
//
// A rewrite first makes the log durable, then the full log in the backup with its name,
// then the new content in a file with .tmp behind the rollout's name, and only then
// renames that. So at each moment, also after a crash, the file and its backup are
// readable and make up all lines. A crash leaves one of: the file as it was, and its
// backup as it was, longer by a part or all of what is new, or just made; or the
// new file with its backup. It may leave the .tmp file, too, which nobody reads and the
// next rewrite removes: it may be a second name of the rollout, so none is written to.
// [Store.RemoveLeftovers] removes those of all threads that have no writer.
//
// A new thread's first lines are written to a file with .tmp behind the rollout's name, which
// gets that name once they are in it and, where they are to be durable, are that: all lines of
// another thread are, with which it may begin. A crash before that may leave the .tmp file, a
// leftover like that of a rewrite.
//
// # Repair
//
// [Store.Repair] makes a file that loads as the damaged one does, also beside its backup, which it
// leaves alone. Each line has the number that it had, in writing where it would have
// another without the lost lines, and stands where it stood or behind that; the file is no shorter.
// Where lines are lost at the end, a line of type "repaired" has the last number of theirs. A
// lost session_meta is made up where the number 0 is free.
//
// The new content is read, and compared with what the old one loaded as, before anything
// is written. Then the old file is made durable under a name with .orig behind it, and what could
// not be read of it under one with .lost; then the new content under .tmp takes the old one's place.
//
// # Redaction
//
// [Store.Redact] takes secrets out of a file that has them, and keeps no copy of it. The full log,
// without secrets, takes the file's place, so that it is whole; once that is durable the backup
// is removed. The file cannot stay a selection, since its backup's new content and the new
// checksum of it are in two files, and a crash between would part them.
//
// # Archive
//
// A rollout and its backup go to archived_sessions, and back to the folder of the day in
// the name, under their names. The backup gets its new name first, as a second one or, where
// the disk has no links, as a copy; then the rollout does, by a link that takes no other
// file's place, or else by a rename; then the rollout loses its old name, and last the
// backup. Folders are synced between. So at each moment, also after a crash, each name of
// the rollout has its backup beside it. A crash may leave two names of the rollout: the one
// below sessions counts, and the next move knows the other by its content, an earlier state
// of the full log; [Store.FinishMoves] takes that away. It may leave a backup without a rollout, which nobody reads.
// The newest file of a thread goes last into the archive, and comes first out of it, so that
// at each moment it is the one that is found.
// Programs that know of no backups move the rollout alone. Where the backup that a rollout
// names is not beside it, it is looked for where such a move would have left it, and Open
// puts it beside the rollout again.
//
// # Deletion
//
// A rollout goes before its backup; every name of the thread's goes, and what moves that were
// cut have left where they led from or to. One in whose lines
// another rollout begins, as the first line of that says, stays.
//
// # Locks
//
// A thread has one writer among all processes that share a home. The locks are those
// of the reference implementation, so each keeps off the other: flock on
// home/thread-writer-locks/<id>.lock, opened and locked while a shared flock on
// .coordination.lock in the same folder is held, and removed only by its holder under
// an exclusive one. A rollout is opened for appending under the lock, and rewritten
// and moved under it. Reading takes no lock: whichever of the states a reader finds the file in,
// the backup has what that needs. Appends to session_index.jsonl hold flock
// on session_index.jsonl.lock.
//
// When a file cannot be opened for want of descriptors, the store suspends all idle logs
// ([Log.SetIdle]): it closes their files and gives their locks back. A suspended log has
// nothing to write. It takes its lock back before its next append, and only if its file has the
// size, the time and the identity that it had: another program may have been the writer since.
//
// # Concurrency
//
// A [Store] may be used by any number of goroutines. A [Log] belongs to one at a time, and to
// the store while it is idle.
//
// A [Text] belongs to one goroutine, too.
//
// Goroutines: to load a file, one reads and parses the next part of it while the lines of
// one are taken; it waits for the file, and for that to be taken, and ends with the file.
// To parse more than a megabyte, and to read a file for a rewrite, there is one per CPU.
// They block on nothing but the file. All have ended when the call returns. Nothing else
// starts any.
package rollout
