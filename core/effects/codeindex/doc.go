// Package codeindex keeps the text files of repositories, in chunks, in a sink that can be searched.
// Each repository has one background job, which reads only changed files.
//
// # Files
//
// A job reads the files that package find yields for the repository, without links and without
// repositories inside. It skips files that people did not write as text: each reason is a [Reason],
// and [Status] counts them. Files are opened one name at a time and through no link, after they are
// known to be regular. So nothing outside of the repository is read, and no open blocks.
//
// # Chunks
//
// [Cut] divides a file. Lines are never cut, and each is in exactly one chunk.
//
// # Changes
//
// A file is read again if its size or modification time differs, and stored again if its content
// differs. Both are in the hash that the sink keeps, so that a new process does not read unchanged
// files. A modification time shortly before the reading proves nothing, and counts as a difference.
//
// # Order
//
// A look at a repository walks it, stores new and changed files, and then removes deleted ones. It
// removes nothing unless it has seen all. The next look follows a change that the watches report, or a
// pause: watches are bounded in number, and looks find the changes that they miss.
//
// # Share
//
// After work a job rests, so that it takes no more than its share of one processor. Waiting for the
// disk counts as work. After a look it rests twenty times as long as the look took, but no longer than
// Options.Rescan.
//
// # Goroutines
//
// Each job has one, and one more in the library that watches. The first blocks on the file system, the
// sink and the progress callback. Both end with Stop, Close, or the context of Start.
//
// # Decisions
//
// The hash of a file's chunks contains the known facts of the file: size, modification time, and
// content or the reason why it has no chunks. A separate list would need to stay consistent with the
// store, which can be emptied at any time.
//
// A change triggers a look at the whole repository, not only at the reported paths. Systems lose
// events, and an event for .gitignore concerns other files. A look takes 13 ms per 1,000 files, and
// its duration limits how soon the next one starts.
//
// Go files are split by the scanner, not by the parser. The scanner reads files that do not compile,
// and has no limit of nesting.
package codeindex
