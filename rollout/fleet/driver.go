package fleet

import (
	"context"
	"time"

	"appserver/rollout/listing"
)

// Driver stores the threads of a fleet. Any number of goroutines may use it. The package
// documentation has its promises. Ids of threads are UUIDs in their canonical form; with any
// other id, a thread does not exist.
type Driver interface {
	// Join makes or renews the lease of a node, and returns its time to live. The error is
	// ErrNodeInUse while another incarnation of the node has a valid lease.
	Join(ctx context.Context, n Node) (ttl time.Duration, err error)
	// Leave ends the lease of a node, so that others can take its threads at once. It does
	// nothing if the incarnation has no lease.
	Leave(ctx context.Context, n Node) error
	// Nodes returns the nodes with a valid lease, by id.
	Nodes(ctx context.Context) ([]Node, error)

	// Create stores a new thread and makes the node its owner, all or nothing. The lines get the
	// ordinals from 0. After it has returned, it does not use the content. Errors: ErrExists,
	// ErrNotJoined, ErrInDoubt, and that of the content, which must not be one of these.
	Create(ctx context.Context, id string, n Node, c Content) (Own, error)
	// Take makes a node the owner of a thread. It increments the epoch, even if the node is
	// the owner already. Errors: ErrNotFound, ErrNotJoined, *OwnedError, ErrInDoubt.
	Take(ctx context.Context, id string, n Node) (Own, error)
	// Release ends the ownership. Errors: ErrFenced, ErrInDoubt.
	Release(ctx context.Context, o Own) error

	// Append appends lines, beginning with the ordinal first, all or none. It uses o.Next for
	// nothing. If h is not nil, it replaces the head, except for ID, CreatedAt, Name and
	// Archived. The lines must not change until it returns, nor after ErrInDoubt. Errors:
	// ErrFenced, ErrNotFound, *OrderError, ErrInDoubt, ErrTooLarge, ErrClosed, and that of ctx if
	// the append was not sent.
	Append(ctx context.Context, o Own, first int64, lines [][]byte, h *Head) error
	// Read calls line with each line from an ordinal on, in order, until line returns false.
	// The bytes are valid during the call only. It returns the ordinal after the last line.
	// The error is ErrNotFound for an unknown thread.
	Read(ctx context.Context, id string, from int64, line func(ordinal int64, raw []byte) bool) (next int64, err error)
	// Rewrite replaces lines to remove secrets from them. The function returns the new line,
	// or nil to keep it. If h is not nil, it replaces the head as in Append. All lines change
	// in one transaction. It also removes the messages of the thread from the search and
	// increments the epoch, so that no earlier call can add them again. It increments the
	// generation. Errors: ErrFenced, ErrNotFound, ErrInDoubt.
	Rewrite(ctx context.Context, o Own, h *Head, line func(ordinal int64, raw []byte) []byte) (Own, error)

	// Move archives or unarchives a thread. Errors: ErrFenced, ErrNotFound, ErrInDoubt.
	Move(ctx context.Context, o Own, archived bool) error
	// Rename sets the name, and needs no ownership. Errors: ErrNotFound, ErrInDoubt.
	Rename(ctx context.Context, id, name string) error
	// Delete removes a thread. Errors: ErrFenced, ErrNotFound, ErrInDoubt.
	Delete(ctx context.Context, o Own) error

	// AddMessages stores the messages of the lines from one ordinal up to another one, exclusively,
	// for the search. Afterwards, the thread is indexed up to the ordinal upTo, unless it was
	// further. A message that is stored already is not changed. If the thread is indexed up to an
	// ordinal before from, because a crash has lost messages, nothing is stored and the error is an
	// *OrderError with that ordinal. Call it after the append of the lines has returned nil.
	// Errors: ErrFenced, ErrNotFound, *OrderError, ErrInDoubt.
	AddMessages(ctx context.Context, o Own, from, upTo int64, messages []Message) error
	// Indexed returns the ordinal up to which a thread is indexed, exclusively.
	Indexed(ctx context.Context, id string) (upTo int64, err error)

	// Interrupted returns threads with a turn under way whose owner has no valid lease, at most
	// limit. Another node may take them. next is the time until the next valid lease of any node ends,
	// unless it is renewed, or 0 if no lease is valid.
	Interrupted(ctx context.Context, limit int) (ids []string, next time.Duration, err error)
	// Find returns a thread. The error is ErrNotFound for an unknown one.
	Find(ctx context.Context, id string) (Place, error)
	// List returns a page of the threads that q selects. Query.Limit is the maximum number of
	// heads, or 0 for all.
	List(ctx context.Context, q listing.Query) (Page, error)
	// Search returns a page of the threads of which a message, the preview or the name
	// contains Query.Search. The other fields select as in List; SortRelevance is possible.
	Search(ctx context.Context, q listing.Query) (Hits, error)
	// Usage returns the size of all threads.
	Usage(ctx context.Context) (Usage, error)

	// Close waits for writes that were sent, and then closes all connections.
	Close() error
}

// Node is a process of the fleet.
type Node struct {
	// ID names the node for people and in lists. It stays the same after a restart.
	ID string
	// Incarnation is random, with at least 64 bits. Each start of the process makes a new one.
	Incarnation string
	// Address is the address of the node for other nodes.
	Address string
}

// Own is the ownership of a thread.
type Own struct {
	// ID is the thread.
	ID                string
	Node, Incarnation string
	Epoch             int64
	// Next is the next ordinal at the time of the Create, Take or Rewrite that returned it, and
	// Generation the number of rewrites.
	Next, Generation int64
}

// Place describes where a thread is.
type Place struct {
	Head
	// Next is the next ordinal. Generation is the number of rewrites. Bytes is the size of the lines.
	Next, Generation, Bytes int64
	// Owner is the owner with a valid lease, or "". Address is its address.
	Owner, Address string
}

// Usage is the size of all threads. Bytes includes ArchivedBytes.
type Usage struct {
	Threads              int
	Bytes, ArchivedBytes int64
}

// Message is a searchable text of the line with an ordinal. A line has at most one.
type Message struct {
	Ordinal int64
	listing.Message
}
