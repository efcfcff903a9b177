// Package view builds the lists of a thread that clients read page by page: turns, items, the
// timeline, the occurrences of a text in messages, model requests, and the cursors of checkpoints. It also searches
// the context items.
//
// A [Thread] is a transcript with the facts about its active turn that no line has yet. It changes
// nothing, and its pages are replies as they are sent. [UsagePage] and [SearchContext] need no Thread: they read the
// model requests and the history.
//
// A cursor is opaque to clients. It names an entry by the ordinal of its line or by an id, and never
// by its index, so a page continues at the right entry when lines were added since. A cursor of
// another thread is rejected. Cursors of turns, items and checkpoints are valid for their list only.
//
// # Decisions
//
// The cursor of a trim point that was undone since is valid. The timeline is read while the agent
// works and edits are made; an error in the middle of reading it would make the client start again.
// Its page continues at the entry that followed the trim point.
package view
