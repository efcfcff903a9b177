// Package shared stores threads in the database of a fleet, so that any node can read them, and one at a
// time can write them.
//
// # Copies
//
// A node keeps the lines of the threads that it reads or writes in local files. A thread is loaded from
// its copy, after the lines that the copy lacks are appended to it. So a step of a thread does not wait
// for the network, and a second load fetches the new lines only. A copy has the lines of the database
// from the first one on. If its last line differs from the database, or a line is damaged, the copy is
// removed and fetched again. A load waits for another process of the home that writes the copy. The name
// of a copy has the generation of the lines, so that a copy from before a redaction is not used. Copies are
// not durable, and can be deleted at any time. A long copy has a snapshot. The lines that the snapshot covers
// are not counted again. A snapshot from before a restart of the kernel is not used for that, because a crash
// may have damaged the copy. Each node removes the copies that are old, too large in total, or stale.
//
// # Ownership
//
// The node joins the fleet when the store is opened, and renews its lease until Close. Begin and Open make
// it the owner of a thread, and Close of the journal ends that. A thread of another node is a
// [store.OwnedError], which is a *rollout.LockedError as well.
//
// If two thirds of the time to live pass without a renewal, all threads of the node are lost: their
// journals write nothing more, and Lost is closed, so that commands end before another node takes the
// threads. Calls about these threads end at that moment, because the goroutine of a thread waits for them before
// it can end commands. The node then joins as another incarnation.
//
// If a process is killed, the next process of the same home and kernel ends its lease, so that it can take
// its threads at once.
//
// # Appends
//
// Each append waits until the database has confirmed it, with sync or without. The copy gets the lines
// afterwards. If the database does not confirm an append, has lost lines in a failover, or another node has
// taken the thread, the error is a [store.LostError], and the journal cannot be used any more. An append ends
// with the lease at the latest, though the time limit of calls may be longer.
//
// # Search
//
// Messages are added to the search after the append, in the background. Searches are complete once all
// messages of this node are added. At most 8 MiB of messages wait in memory; further ones are read from
// the database again. The lines that a crash left out are added when the thread is opened again.
//
// # Goroutines
//
// One renews the lease, one adds messages to the search, one removes copies, and one looks for interrupted
// threads. They end with Close, which waits for their present calls of the database.
package shared
