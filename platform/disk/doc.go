// Package disk has the file operations that rollouts are made of. It knows neither lines nor
// threads.
//
// [FS] is the file system: [OS] is that of the operating system, and tests use others, with
// faults and crashes. All other functions reach the disk through an FS only.
//
//   - [Open] and [Create] open regular files. A pipe or a device never blocks them.
//   - [Appender] appends all or nothing. After an error it truncates the file to its former
//     size. If that fails too, the next append truncates first, or terminates the rest with LF.
//   - [TempFile] and [Replace] write a file under a temporary name, sync it, rename it and sync
//     the folder. So after a crash the file has its old content or all of the new content. On
//     Linux, the disk stores the first parts of a large file while later ones are written.
//   - [LockWait] and [LockWithin] wait for advisory locks.
//   - [Retrying] frees file descriptors and retries an operation if the process has none left.
//
// # Errors
//
// [Wrap] adds the operation, the path and the next action to an error. Errors that have them
// already implement [Advised] and pass unchanged. [Cause] is an error with its own advice.
// [IsShortage], [IsTransient] and [IsEnvironment] classify errors of the system.
//
// # Concurrency
//
// An [FS] is safe for concurrent use. An [Appender] belongs to one goroutine. [ReadAll] and
// [Parallel] start one goroutine per CPU for more than 1 MiB. [InOrder] starts one per job, and one
// per CPU is under way. [Ahead] starts one. They end before the call returns, and a panic in one of
// them passes to the caller.
package disk
