// Package host does what clients ask of the machine itself, without a thread: it reads,
// writes and watches files, finds them, and runs commands. All of it is for the client's
// user, who may do as much without the server; only commands are confined.
//
// # Connections
//
// What was begun for a connection, its watches, searches and commands, ends with it
// ([Host.Gone]), and their names are the connection's own.
//
// # Order
//
// File operations of one connection are done one after another, in the order in which they
// came, so that a client that does not wait for answers reads what it wrote. Watches begin
// and end in the same order. Commands and searches run beside them and each other; the
// answer of a command comes after the last piece of its output.
//
// # Bounds
//
// Nothing is read or written but regular files, which are opened so that nothing waits for
// another program. The sizes are in the constants of this package. What a client does not
// read is held back: output blocks its command, changes are gathered until there is room. Of
// the searches of a connection a few walk at a time, each below one root; the rest wait.
//
// # Goroutines
//
// Each connection with file operations to do has one, which ends when there are none. Each
// search and each command has one, and each command that is written to one more, which
// blocks until the program reads. All these end with the connection, an operation of the
// file system at its own end. The watcher, which is made with the first watch and stays, has
// one here and one in its library; they end with Close.
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
