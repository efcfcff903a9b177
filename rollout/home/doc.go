// Package home knows where the files of a home (CODEX_HOME) are, and who may write to them. It
// does not read rollouts.
//
// # Names
//
// A rollout is home/sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<id>.jsonl, in local time,
// or has such a name anywhere below home/archived_sessions. <id> is the UUID of the thread.
// Folders have mode 0700, and files 0600.
//
// A thread that the reference implementation has reverted has several files. A later one is
// named rollout-<time>-<id>_<file id>.jsonl. The file id of the first file is the thread id. The
// last file in the order of paths represents the thread. [Home.Walk] visits all files,
// [Home.Threads] only those that represent a thread. Of a thread below both roots, [Home.Find]
// returns the file below sessions.
//
// The backup of a rollout has the suffix .bak. Other programs may move a rollout without its
// backup. [Home.BackupPath] then returns the former path. If a rollout is empty,
// [Home.OpenFilled] opens its backup instead.
//
// # Locks
//
// A thread has one writer among all processes with the same home. The locks are those of the
// reference implementation: flock on home/thread-writer-locks/<id>.lock. It is opened and
// locked under a shared flock on .coordination.lock in the same folder. It is removed under an
// exclusive one. Appending, rewriting and moving require the lock; reading does not.
//
// # Line files
//
// A [LineFile] is a small file in the home to which several programs append lines, under a
// flock on <name>.lock. One of them is session_index.jsonl, with the names of threads
// ([Home.Names]).
//
// # Durability
//
// [Home.SyncEntries] makes the names of a file and of all folders above it durable. It remembers
// the folders, so a new thread costs the sync of one file and one folder.
//
// # Errors
//
//	*NotFoundError, *NotArchivedError   no such thread
//	*LockedError                        the thread has another writer
//	*NameError                          a name without a thread id
//	*disk.Error                         an operation failed
//
// # Concurrency
//
// A [Home] is safe for concurrent use. A [WriterLock] belongs to one goroutine.
package home
