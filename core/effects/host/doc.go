// Package host serves requests of clients that concern the machine and no thread: it reads, writes and
// watches files, finds them, and runs commands. The client's user may do all of that without the server.
// Only commands are confined.
//
// # Connections
//
// Watches, searches and commands end with their connection ([Host.Gone]). Their names are unique within
// a connection only.
//
// # Order
//
// File operations of one connection run one after another, in the order of their requests. Watches begin
// and end in the same order. Commands and searches run beside them and each other. The response of a
// command comes after the last piece of its output.
//
// # Bounds
//
// Only regular files are read and written. They are opened so that no other program can block the
// server. The sizes are in the constants of this package. If a client does not read, output blocks its
// command, and changes are gathered until there is room. A few searches of a connection walk at a time,
// each below one root; the rest wait.
//
// # Goroutines
//
// Each connection with pending file operations has one. Each search and each command has one. Each
// command with an input has one more, which blocks until the program reads. All of them end with the
// connection; an operation of the file system ends at its own end. The watcher is made with the first
// watch and stays. It has one here and one in its library; they end with Close.
//
// # Decisions
//
// File operations of a connection run one after another, so a client that does not wait for
// responses reads what it wrote. A long copy delays only the connection that requested it. The
// reference implementation runs all of them at once.
//
// fs/writeFile writes in place and through links, as the reference implementation does.
// Watchers and open descriptors see the same file, and its permissions stay. A full disk leaves
// a part of the content.
//
// The watch library reports a directory under one name. So watches are counted by paths without
// links and reported under the names that clients gave. Every watch of a directory is notified.
// The reference implementation notifies only one of them.
//
// A watch of a missing path waits at the nearest existing folder above it, and moves when
// folders appear and disappear.
//
// A command without a thread is refused if it should be confined and cannot be, because nobody
// can be asked.
//
// The response to command/exec/write is sent when the system has accepted the bytes for the
// command. Waiting for it is all the flow control that a client needs.
package host
