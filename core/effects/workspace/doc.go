// Package workspace reads what a turn has to know of the machine outside: the
// working directory and the instructions, images and repository in it, the user's
// shell, and the local date.
//
// Everything it reads may be missing, damaged, hostile or something else than a
// file. Only regular files are opened and no more of them is read than is kept, so
// that no pipe, device or endless file can hold up the caller. Nothing is written
// and nothing is cached: each call sees the machine as it is.
//
// All functions may be called from any goroutine. The package starts none of its
// own, and one process: git, for repositories whose refs only git can read, ended
// with the context or after a second.
package workspace
