package rollout

import "errors"

// ErrNoIndex is why nothing can be searched.
var ErrNoIndex = errors.New("threads cannot be searched: their index is turned off, or not available")

// SortRelevance puts the threads first that tell most of what is searched.
const SortRelevance SortKey = "relevance"

// Hit is a thread that a search found.
type Hit struct {
	Head
	// Snippet is a line of what it was found by.
	Snippet string
}

// Hits are a page of a search.
type Hits struct {
	Hits []Hit
	// NextCursor and BackCursor are as those of Page.
	NextCursor, BackCursor string
	// Complete is false where not all rollouts could be searched yet.
	Complete bool
}
