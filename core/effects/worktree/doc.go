// Package worktree captures the files of a folder, and restores them.
//
// A capture is a git tree of the whole worktree: of the files that git tracks there, and of the files that
// it neither tracks nor ignores. Two captures have changes, changes have diffs, and [Tree.Restore] undoes
// a change.
//
// # What git may do
//
// An agent writes the workspace, so git runs no program that the workspace names: no filter, hook, file
// system monitor, text conversion or external diff. It reads the files with a git folder of our own, whose
// configuration and attributes keep their bytes unchanged. Only objects and the refs below refs/appserver
// are written into the repository. Its index, HEAD, stash, reflogs and other refs do not change. Objects
// and refs are written into our own folder if there is no repository, if it cannot be written, or if its
// .git points at a git folder that does not point back.
//
// # Ignored files
//
// Submodules and other repositories below the root are never entered, and neither are folders behind
// links. Unreadable files, sockets and devices are skipped.
//
// # Order
//
// Git may remove the results of [Tree.Capture] and [Tree.CapturePaths] after some days, unless
// [Tree.Keep] has named them. A named result survives a crash. One capture or restore at a time works on
// a worktree, among all threads and processes with the same home. The git processes hold the lock as well,
// so a server waits for a git process that outlived a killed server.
package worktree
