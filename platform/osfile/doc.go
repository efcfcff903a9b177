// Package osfile has the file operations that differ between operating systems: folders that are opened
// through no link, locks, syncs of folders, renames over open files, and the kinds of errors.
//
// # Decisions
//
// [os.Root] follows a link that stays below its root, and cannot rename between two open folders. A
// [Folder] does neither: a link that another program creates while files are restored must not lead
// the restore to other files. On Windows, a Folder therefore calls the kernel with the handle of the
// folder, as openat does elsewhere.
//
// Go opens files on Windows so that no one can rename or remove them. [Open] permits both, as other
// systems do. A rollout is rewritten while it is open.
package osfile
