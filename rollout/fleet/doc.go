// Package fleet specifies the storage of threads that many nodes share. A node is one process
// of this program. [Driver] is the interface of a database, and fleettest checks its promises.
//
// # Leases
//
// Each node has one lease, and renews it with [Driver.Join]. The lease ends by the clock of the
// database. A thread has at most one owner. [Driver.Take] makes a node the owner, unless the
// lease of the present owner is valid. So the number of leases does not grow with the number of
// threads.
//
// The time to live of a lease counts from the moment before Join was called. A node that cannot
// renew its lease must stop its commands before that time has passed, because another node may
// take its threads.
//
// # Fencing
//
// Each Take increments the epoch of the thread. A process has a random incarnation, which no
// other process has. A write names node, incarnation, epoch and, if it appends, the next
// ordinal. If one of them differs from the stored one, the write changes nothing. So a stale
// owner is fenced, however long it was suspended. An asynchronous failover or a restore may
// roll an epoch back and issue it again; the incarnation still differs.
//
// # Lines
//
// A thread is a sequence of lines with the ordinals 0, 1, 2, … without gaps. A line is any
// bytes, at least up to 64 MiB. [Driver.Append] is all or none, and its lines are durable when
// it returns nil.
//
// # In doubt
//
// A write is in doubt if the connection is lost after the write was sent. Only another
// synchronous write can resolve it: a read may see lines that a failover removes. So a driver
// repeats the append with the same ordinals. If the lines are there, it compares them, in a
// transaction that writes. If that is not possible within a limit, the error is [ErrInDoubt].
//
// A context that ends does not cancel a write. The caller stops waiting, and the error is
// ErrInDoubt. A caller resolves it by calling Append again with the same ordinals and lines:
// the append of lines that are there already succeeds. After a Take, Own.Next is the
// confirmed end of the thread, because Take itself is a synchronous write.
//
// # Reads
//
// All reads use the primary. A read replica may show fewer lines than were confirmed, or lines
// that a failover removes. The lines below Own.Next are confirmed. [Driver.Read] may return
// later lines of another owner.
//
// Lines change in a [Driver.Rewrite] only, which increments the generation of the thread. A copy
// of lines of an earlier generation is stale.
//
// # Lists
//
// A [Head] holds what lists show of a thread. Its owner passes it with an append. The name and
// the archive flag are not part of the log: [Driver.Rename] and [Driver.Move] change them, and
// an append does not. Lists omit threads whose head is not [Head.Listed].
//
// The order of lists is (CreatedAt, ID) or (UpdatedAt, ID). The order of a search may also be
// (relevance, ID). The relevance is the number of messages that contain the term, plus
// [NamedRank] if the preview or the name contains it. Texts are compared after
// [strings.ToLower].
//
// # Messages
//
// A search finds messages that [Driver.AddMessages] has stored. They are stored beside the
// append, not in its transaction, because the index is slower than the log. They may be lost
// in a crash. [Driver.Indexed] returns the ordinal up to which a thread is indexed, so that
// its owner can add the rest.
//
// # Errors
//
//	ErrFenced       the thread has another owner, or none; the write changed nothing
//	*OrderError     the append does not begin at the next ordinal, and its lines are not there
//	ErrInDoubt      the write may have happened or may still happen
//	*OwnedError     another node owns the thread and its lease is valid
//	ErrNotJoined    the node has no valid lease
//	ErrNodeInUse    another process has the lease of this node
//	ErrNotFound     the thread does not exist
//	ErrExists       the thread exists already
//	ErrTooLarge     the append exceeds a limit of the driver
//	ErrClosed       the driver is closed
//
// An error may match both ErrFenced and ErrInDoubt: the write was in doubt, and then the thread
// got another owner. Invalid cursors are a *listing.CursorError. Other errors are those of the
// database; the write changed nothing then.
package fleet
