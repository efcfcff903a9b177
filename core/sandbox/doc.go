// Package sandbox has the kernel enforce a sandbox policy on a command and on
// everything that descends from it.
//
// # Order
//
// [For] turns a policy into [Rules]. The server starts a process with the
// attributes that [Rules.Attributes] gives: it is the first of new user, mount,
// process, IPC and, unless the policy opens the network, network namespaces. That
// process calls [Rules.Enter], which arranges the file system and the limits, then
// [Rules.Restrict], which takes from the calling thread what would undo that, and
// starts the command from this thread. Nothing may be started before Restrict.
//
// # What enforces what
//
// Mounts make everything read-only but the writable roots, put the protected parts
// of these back to read-only, hide the server's home, and replace /proc and /dev.
// A name that leads from a writable root to something protected cannot be moved
// away: each folder on the way is a mount point. Paths below a writable root are
// walked one name at a time and through no symbolic link, since commands that ran
// before may have put one there. The process namespace hides every other process,
// and ends with its first one. The network namespace has a loopback of its own.
// Landlock, where the kernel has it, repeats the rules for writing. Seccomp closes
// the kernel's side doors: other namespaces, tracing, mounting, keys, and sockets
// that are bound to no network namespace.
//
// # What is missing
//
// Where a step fails the command is not started. Whether all of them work on a
// machine can only be tried; who starts the commands does that.
package sandbox
