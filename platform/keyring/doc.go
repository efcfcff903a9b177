// Package keyring reads and writes entries of the keyring of the system.
//
// # Goroutines
//
// Each call has one, which blocks on the keyring and ends with its answer. The caller waits for a few seconds. A
// keyring that did not answer is not called again for minutes, so few of them remain.
package keyring
