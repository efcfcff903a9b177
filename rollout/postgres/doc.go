// Package postgres stores the threads of a fleet in PostgreSQL 14 or newer. It implements
// fleet.Driver.
//
// # Tables
//
//	node      the lease of each node
//	thread    owner, epoch and next ordinal of each thread; each append updates its row
//	line      the lines, compressed with lz4
//	head      what lists show
//	title     preview and name of each thread in lower case, with an index of trigrams
//	message   searchable texts, with an index of trigrams
//	indexed   the ordinal up to which messages of a thread are stored
//
// The files in migrations create them, in the first schema of the role's search_path. Each
// migration is one transaction, under an advisory lock. It has no time limit, because an interrupted one
// would begin again at each start. A database with a newer schema is rejected. Texts in columns have
// U+FFFD in place of NUL and of invalid UTF-8.
//
// # Appends
//
// Appends that arrive while others are in flight are gathered: one statement appends to many
// threads, over one of three connections. An append with a wrong owner or ordinal writes
// nothing and does not disturb the others. At most one append of a thread is in flight. A batch
// has at most 8 MiB, or one append.
//
// # Writes
//
// A write is never cancelled. If the server waits for a synchronous standby, a cancelled wait
// leaves the commit on the primary, where readers see it and a failover removes it. So a write
// has a context of its own, the connection cannot dial again to send a request to cancel, and
// the session has no statement_timeout. If an administrator cancels the wait, the server sends
// a warning; the write is in doubt then.
//
// An append in doubt is repeated in a transaction that locks the thread. The lock waits for the
// lost statement if the server still executes it. If the lines are there, they are compared by
// their SHA-256. The lock is an update, so the commit waits for the disk and the standby in
// both cases.
//
// A Create sends its lines one at a time, and the row of the thread after them, in one transaction. So a thread of any
// length takes the memory of one line, and a Create that is interrupted leaves no thread. VACUUM removes its lines.
//
// Create, Take, Release, Move, Rename, Delete, Join and AddMessages have the same effect when
// repeated, so they are repeated up to three times. Rewrite is not.
//
// # Servers
//
// Each new connection checks the server: a read replica, an old version, another encoding than
// UTF8 and, if a synchronous standby is required, a primary without one are rejected. So after
// a failover the rules hold for the new primary. If the URL names several hosts, the primary
// is used. An attempt to connect to a host takes at most 3 s, unless the URL has connect_timeout. A
// connection fails if the host acknowledges nothing for 5 s.
//
// Open also commits a record without content, before a migration, and checks the rights on the tables. So a
// standby that is connected but does not confirm writes, and a role that can only read, are rejected.
//
// Each pool opens a connection at once, so that the first request of a process does not wait for it. A connection is
// tried before its first use, and if it was not used for a second.
//
// A primary can lose its setting synchronous_standby_names while it runs. Each Join reads it, and
// Options.StandbysChanged reports a change. A primary that was accepted stays in use until it
// restarts, so that turns do not fail.
//
// # Redaction
//
// A Rewrite replaces lines in the tables. Former versions of the rows remain on the disk of the
// server until VACUUM, and in its log and backups.
//
// # Errors
//
// An unusable server is an [OpenError], which names the key of the configuration, the cause and
// the next action.
//
// # Goroutines
//
// Three goroutines send appends. Each blocks on its connection, at most for Options.Limit per
// attempt, and ends after Close. Each other write runs in a goroutine that blocks on its
// connection, at most for Options.Limit, a third of a lease for Join, or 20 times the limit for Rewrite,
// Delete, and a Create of more than 8 MiB. Close
// waits for all of them, and after 2 s drops their connections. The pools of the library have
// goroutines of their own, which Close ends. Three open the first connection of each pool, and end then.
//
// # Decisions
//
// The columns of lists are not in the row that appends update. An update of an indexed column
// writes all indexes of the row.
//
// Lines have no foreign key: it would lock the thread once for each line.
//
// A lease belongs to a node, not to a thread. A lease per thread would write a row per thread
// and second.
//
// Lower case is computed in Go. The function lower of the server depends on its locale.
package postgres
