// Package remote calls methods of the servers that run for a home. A command uses it to edit a thread that
// one of them has open.
//
// A server can be found if it listens on the control socket of the home, is shared by clients, or serves the
// page. A server on pipes alone cannot.
//
// # Goroutines
//
// One per connection reads it, and ends with it. Of a [Bridge], another one reads the input. It ends with the input, or
// with the process.
package remote
