// Package rollout is the durable log of a thread: one file of JSON lines that is
// only ever appended to, and the folders that hold such files.
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
// from when on it is damage like any other. Nothing is ever taken out of a file
// except the bytes of a failed append.
//
// A line without an ordinal, an integer from 0 to 2^53, has one more than the line
// before it. Damaged lines count as one each, so that the ordinals of sound lines
// do not depend on the health of others.
//
// # Durability
//
// [Log.Append] is all or nothing. Its lines leave in one write; with sync they and
// the folders that lead to them are on the disk when it returns nil. When it returns
// an error the file has been cut back to where it was. Where it cannot be cut either,
// the log remembers that, and before its next append cuts again or, failing that,
// closes off the rest with LF; then whole lines of the failed append can be read
// later. Lines that were appended without sync before a sync that failed may be
// missing after a power cut, though not after the death of the process.
//
// # Locks
//
// A thread has one writer among all processes that share a home. The locks are those
// of the reference implementation, so each keeps off the other: flock on
// home/thread-writer-locks/<id>.lock, opened and locked while a shared flock on
// .coordination.lock in the same folder is held, and removed only by its holder under
// an exclusive one. Reading takes no lock. Appends to session_index.jsonl hold flock
// on session_index.jsonl.lock.
//
// # Concurrency
//
// A [Store] may be used by any number of goroutines. A [Log] belongs to one at a time.
//
// Goroutines: to read a file of more than a megabyte, Read and Open start one per CPU
// that reads a part of it, then one per CPU that parses a part. They block on nothing
// but the file, end by themselves, and have ended when the call returns. Nothing else
// starts any.
package rollout
