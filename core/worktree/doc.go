// Package worktree remembers what the files of a folder were, and puts them back.
//
// A capture is a git tree of the whole worktree: of what git tracks there, and of
// what it neither tracks nor ignores. Between captures there are changes, of changes
// there are diffs, and a change is undone by [Tree.Restore].
//
// # What git may do
//
// The workspace is written by an agent, so git runs no program that the workspace
// names: no filter, hook, file system monitor, text conversion or external diff. It
// reads the files with a git folder of our own, whose configuration and attributes are
// ours, so that their bytes are kept as they are. Only objects and the refs below
// refs/appserver are written into the repository; its index, HEAD, stash, reflogs and
// other refs stay as they are. Objects and refs go into our own folder instead where
// there is no repository, where it cannot be written, or where its .git points at a git
// folder that does not point back.
//
// # What is left alone
//
// Submodules and other repositories below the root are never entered. Neither are
// folders that are reached through links. Files that cannot be read, sockets and
// devices are passed over.
//
// # Order
//
// What [Tree.Capture] and [Tree.CapturePaths] give may be removed by git after some
// days, unless [Tree.Keep] has named it; then it survives a crash as well. One capture
// or restore at a time works on a worktree, of all threads and processes that have the
// same home: a lock is held, by the git processes too, so that one that outlives a
// killed server is waited for.
package worktree
