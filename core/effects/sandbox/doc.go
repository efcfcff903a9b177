// Package sandbox makes the kernel enforce a sandbox policy on a command and all its descendants.
//
// [For] turns a policy into [Rules], and the rules name places: files and folders whose access
// differs from that of their parent. There are two ways to enforce them. Both handle outer places
// first, so that the innermost place decides.
//
// # Linux
//
// The server starts a process with the attributes of [Rules.Attributes]: the first process of new
// user, mount, process and IPC namespaces, and of a network namespace unless the policy allows the
// network. That process calls [Rules.Enter], which sets up the file system and the limits. Then it
// calls [Rules.Restrict], which removes the rights of the calling thread that would undo this, and
// starts the command from this thread. It must start nothing before Restrict.
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
// A command that only reads can be confined without namespaces, by [Rules].Bare. Landlock then denies all
// writing, and access to the memory and the environment of other processes. Seccomp denies what Landlock does not
// cover: modes, owners, times, signals, sockets and shared memory.
//
// # macOS
//
// [Rules.Seatbelt] returns a [Profile], and [Profile.Command] the command under sandbox-exec.
//
//   - The profile denies by default. Of several rules that match, the last one decides.
//   - The kernel compares the path of the file that was opened, so links lead nowhere. Rules have
//     the path by which the kernel knows a place: on volumes that ignore case, that has one spelling.
//   - A folder on the way to a protected one cannot be renamed or removed.
//   - Paths are values of parameters, not text of the profile.
//
// # Repositories
//
// Protected names keep settings and hooks of the repositories that exist when a command starts. The index of a root
// names its submodules. [Rules.Repositories] examines the others, before the command. After it,
// [Repositories.Disable] disables what is new and can make git run programs.
//
// # Programs of the server
//
// The server itself starts git in directories where commands can write. [Reader] keeps such a program from reading what
// commands must not see. Its rules are those of a thread, and a process inherits them from the thread that starts it.
// They need no namespaces, and take no measurable time.
//
// # Goroutines
//
// [Reader.Start] starts one. It restricts its thread, starts the program, and ends with the thread. It blocks on
// nothing but the start, and Start waits for it.
//
// # Decisions
//
// If a step fails, the command is not started: a sandbox that is incomplete without notice is worse
// than none. Only an attempt shows whether all steps work on a machine, so the caller makes one
// with a process that does nothing.
//
// The profile of macOS could allow by default and deny writing. Then every service of the system
// that the profile does not know would be a way out, such as the one that starts applications.
package sandbox
