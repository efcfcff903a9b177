// Package sandbox makes the kernel enforce a sandbox policy on a command and all its descendants.
//
// # Order
//
// [For] turns a policy into [Rules]. The server starts a process with the attributes of
// [Rules.Attributes]: the first process of new user, mount, process and IPC namespaces, and of a
// network namespace unless the policy allows the network. That process calls [Rules.Enter], which
// sets up the file system and the limits. Then it calls [Rules.Restrict], which removes the rights
// of the calling thread that would undo this, and starts the command from this thread. It must
// start nothing before Restrict.
//
// # Enforcement
//
//   - Mounts make everything read-only except the writable roots. They make protected folders in
//     these read-only again, hide the server's home, and replace /proc and /dev.
//   - A path from a writable root to a protected folder cannot be moved away, because each folder
//     on it is a mount point.
//   - Paths below a writable root are opened one name at a time and through no symbolic link,
//     because earlier commands may have made links.
//   - The process namespace hides all other processes, and ends with its first one.
//   - The network namespace has only a loopback interface.
//   - Landlock, if the kernel has it, repeats the rules for writing.
//   - Seccomp denies other ways out: namespaces, tracing, mounting, keys, and sockets that belong
//     to no network namespace.
//
// # Decisions
//
// If a step fails, the command is not started: a sandbox that is incomplete without notice is worse
// than none. Only an attempt shows whether all steps work on a machine, so the caller makes one
// with a process that does nothing.
package sandbox
