// Package contextedit is the terminal editor of a thread's context: a list with prices and toggles, a plan
// of edits with its price, and one edit that applies the plan.
//
// Model is the state of the editor. Update turns one message, such as a key or a result, into a new state and
// at most one command. View returns the lines of the screen. Neither does I/O. Run connects them to a
// terminal, and runs the commands on a Thread.
//
// Keys never wait for a command. One command runs at a time; edits wait in a queue. The price of the plan is
// requested when no other command waits, so a burst of keys costs one request.
//
// # Goroutines
//
// Run starts one goroutine for each command. It blocks on the thread, which waits for the disk only. Run waits
// for it before it returns. The terminal library has goroutines that read the terminal; they end with the
// screen.
//
// # Decisions
//
// The library is tcell. It keeps a grid of cells, so no text can contain an escape sequence for the terminal,
// and a key redraws only the cells that changed. It needs no terminfo and asks the terminal nothing, so it
// works over slow connections and in old terminals. Bubble Tea has the same model as this package, but writes
// strings with escape sequences, links twice as many modules and is larger.
//
// The editor does not keep the thread loaded. Another program can use it meanwhile. The server rejects an
// edit if the context changed after the editor read it; the editor then reads it again and keeps the plan.
package contextedit
