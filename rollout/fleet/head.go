package fleet

import (
	"time"

	"appserver/rollout/listing"
)

// SortRelevance sorts by relevance, the best match first.
const SortRelevance listing.SortKey = "relevance"

// NamedRank is the relevance of a matching preview or name. It exceeds any number of matching
// messages.
const NamedRank = 1_000_000

// Head holds what lists show of a thread. Path is empty. The instructions of Meta are not
// stored. Of Context, only the model and the effort are stored.
type Head struct {
	listing.Head
	Name string
	// Running is set while a turn is under way. In lists and searches it is set only if the thread has an owner,
	// because a turn that waits for an answer can outlive its owner.
	Running bool
	// Listed is set once the thread has a user message. Lists omit other threads.
	Listed   bool
	Archived bool
}

// Page is a part of a list.
type Page struct {
	Heads []Head
	// NextCursor is the cursor of the next page, or "".
	NextCursor string
	// BackCursor is the cursor for the other direction, beginning with the first head of this
	// page. It is "" for an empty page.
	BackCursor string
}

// Hit is a thread that matches a search.
type Hit struct {
	Head
	// Snippet is a line with a match.
	Snippet string
}

// Hits is a page of search results. The cursors are used as those of Page.
type Hits struct {
	Hits                   []Hit
	NextCursor, BackCursor string
}

// Position returns the position of a head in a list or a search. rank is the relevance in a
// search. Path is the id, and Updated the number before it in the order.
func (h Head) Position(key listing.SortKey, rank int64) listing.Position {
	p := listing.Position{Key: key, Path: h.ID}
	switch key {
	case listing.SortCreated:
		p.Updated = Nanoseconds(h.CreatedAt)
	case listing.SortUpdated:
		p.Updated = Nanoseconds(h.UpdatedAt)
	case SortRelevance:
		p.Updated = rank
	}
	return p
}

// Nanoseconds returns a time as Unix nanoseconds, or 0 for the zero time.
func Nanoseconds(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}
