// Package codeindex keeps the text files of repositories, in chunks, in a sink that can be
// searched: one background job a repository, which reads what has changed and no more.
//
// # What is read
//
// The files that a client finds in the repository (package find), without links, without
// repositories inside, and without what is no text that people wrote: each reason to leave a
// file out is a [Reason], and [Status] counts them. Files are opened one name at a time, through
// no link, once they are known to be regular; so nothing outside of the repository is read, and
// nothing waits.
//
// # Chunks
//
// [Cut] takes a file apart. Lines are never cut, and each is in exactly one chunk.
//
// # What has changed
//
// A file is read again when its size or its time of change is another, and put again when its
// content is. Both are in the hash that the sink keeps, so that a new process reads nothing that
// the last one read. A time of change that was too near to the reading proves nothing, and counts
// as another.
//
// # Order
//
// A look at a repository walks it, puts what is new or changed, and then drops what is gone. It
// drops nothing unless it has seen all. The next look comes after a change that the watches
// tell of, or after a while: watches are bounded in number, and looks make up for what they miss.
//
// # Share
//
// After work a job rests, so that it takes no more than its share of one processor. Waiting for
// the disk counts as work. After a look it rests for twenty times the work of it, though no longer
// than Options.Rescan, however much changes.
//
// # Goroutines
//
// Each job has one, and one more in the library that watches. The first blocks on the file
// system, the sink and the progress callback; both end with Stop, Close, or the context of Start.
//
// # Decisions
//
// The hash of a file's chunks contains all that is known of the file: size, time of change, and
// content or the reason why it has no chunks. A separate list would need to stay consistent
// with the store, which can be emptied at any time.
//
// A change triggers a look at the whole repository, not only at the reported paths. Systems
// lose events, and an event for .gitignore concerns other files. A look takes 13 ms per 1,000
// files, and its duration limits how soon the next one starts.
//
// Go files are split by the scanner, not by the parser. It reads files that do not compile, as
// files under construction do, and no nesting is too deep for it.
package codeindex
