// Package callback receives the browser of a user who has logged in somewhere: a port of 127.0.0.1 that the
// authorization server sends the browser to.
//
// # Goroutines
//
// [Port.Serve] starts one that answers browsers. It ends with [Port.Close].
package callback
