package fleet

import (
	"errors"
	"fmt"
)

// Errors of a Driver. The package documentation explains them.
var (
	ErrFenced    = errors.New("this node does not own the thread: load it again")
	ErrInDoubt   = errors.New("the database did not confirm the write: repeat it, or load the thread again")
	ErrNotJoined = errors.New("the lease of this node has ended: join again")
	ErrNodeInUse = errors.New("another process has joined with the name of this node: " +
		"end it, or wait until its lease has ended")
	ErrNotFound = errors.New("the thread does not exist")
	ErrExists   = errors.New("the thread exists already")
	ErrTooLarge = errors.New("the append is too large for the database: split it")
	ErrClosed   = errors.New("the connection to the database is closed")
)

// OrderError reports an append that does not begin at the next ordinal.
type OrderError struct {
	// Next is the next ordinal of the thread.
	Next int64
}

// Error includes the next ordinal.
func (e *OrderError) Error() string {
	return fmt.Sprintf("the append does not begin at the next ordinal, which is %d", e.Next)
}

// OwnedError reports that another node owns a thread.
type OwnedError struct {
	ID string
	// Node is the owner, and Address its address for other nodes.
	Node, Address string
}

// Error includes the thread and the owner.
func (e *OwnedError) Error() string { return fmt.Sprintf("node %s owns thread %s", e.Node, e.ID) }
